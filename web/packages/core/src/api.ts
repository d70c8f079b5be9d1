/** The server's device side over HTTP. Source: protocol.md. */

import type { Clock } from "./clock.ts";
import type { DeviceClass, DeviceType, PublicKeys } from "./pairing.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** The server refused. `code` is from its catalogue of errors; `retryAfterSeconds` is 0 where it named none. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly retryAfterSeconds: number;

  constructor(status: number, code: string, message: string, details: Record<string, unknown>, retryAfter: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfter;
  }

  /** The same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** The server could not be reached. */
export class UnreachableError extends Error {}

export interface EnrollRequest {
  code: string;
  public_key: string;
  signing_key: string;
  label: string;
  type: "web" | "extension";
  class: "phone" | "desktop";
  app_build?: number;
}

export interface NewToken {
  id: string;
  label: string;
  token: string;
}

export interface EnrollResponse extends EnrolledState {
  default_token: NewToken | null;
}

export interface DeviceState extends PublicKeys {
  device_id: string;
  label: string;
  type: DeviceType;
  class: DeviceClass;
  reachable: boolean;
  last_seen_at: number | null;
  app_build: number | null;
}

export interface TokenState {
  id: string;
  label: string;
  test: boolean;
  priority_cap: string | null;
  scopes: string[];
  created_at: number;
  last_used_at: number | null;
}

export interface CreateTokenRequest {
  label: string;
  priority_cap?: string;
  scopes?: string[];
  test?: boolean;
}

export interface PushSubscriptionState {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

export interface Invitation {
  code: string;
  url: string;
  expires_at: number;
}

export type PairingStatus = "open" | "claimed" | "greeted" | "revealed" | "approved" | "rejected";

export interface ClaimRequest extends PublicKeys {
  label: string;
  type: DeviceType;
  class: DeviceClass;
  app_build?: number;
  /** Base64, as everything of a pairing. */
  proof: string;
  commitment?: string;
}

export interface ClaimResponse {
  claim_token: string;
  device_id: string;
  expires_at: number;
}

/** The device that asks to join, by the server's word: nothing of it is true unless `proof` is right. */
export interface ClaimState extends PublicKeys {
  device_id: string;
  label: string;
  type: DeviceType;
  class: DeviceClass;
  proof: string;
  commitment: string | null;
  nonce: string | null;
}

export interface PairingState {
  pairing_id: string;
  status: PairingStatus;
  expires_at: number;
  claim: ClaimState | null;
}

export interface SignedApproval {
  approval: string;
  proof: string;
  signature: string;
}

export interface OutcomeState {
  status: PairingStatus;
  expires_at: number;
  greeting: (PublicKeys & { nonce: string }) | null;
  admission: (SignedApproval & EnrolledState) | null;
}

/** Who a device is to its server. */
export interface EnrolledState {
  owner_id: string;
  device_id: string;
  device_token: string;
  server_key: string;
}

export interface SyncEntry {
  seq: number;
  from: string;
  blob: string;
  expires_at: number;
}

/** A server's clock may differ by the granularity of `Date` and the way here; more than this is a wrong clock. */
export const SKEW_TOLERANCE_SECONDS = 5;

export class Api {
  readonly #base: string;
  readonly #token: string | null;
  readonly #fetch: Fetch;
  readonly #onServerTime: (unixSeconds: number) => void;

  /** `base` is the server's origin, or empty for the page's own. */
  constructor(
    base: string,
    token: string | null,
    fetch: Fetch,
    onServerTime: (unixSeconds: number) => void = () => {},
  ) {
    this.#base = base;
    this.#token = token;
    this.#fetch = fetch;
    this.#onServerTime = onServerTime;
  }

  enroll = (request: EnrollRequest) => this.#json<EnrollResponse>("POST", "/v1/enroll", request);
  answer = (id: string, body: { choice_index: number; answered_at: number; signature: string }) =>
    this.#json<{ choice_index: number }>("POST", `/v1/interactions/${id}/answer`, body);
  ack = (seq: number) => this.#json<void>("POST", "/v1/sync/ack", { seq });
  entries = (after: number) => this.#json<{ entries: SyncEntry[] }>("GET", `/v1/sync/entries?after=${after}`);
  devices = () => this.#json<{ devices: DeviceState[] }>("GET", "/v1/devices");
  updateSelf = (changes: { label?: string; app_build?: number; push?: PushSubscriptionState | null }) =>
    this.#json<DeviceState>("PATCH", "/v1/devices/self", changes);
  removeDevice = (id: string) => this.#json<void>("DELETE", `/v1/devices/${id}`);
  disconnect = () => this.#json<void>("DELETE", "/v1/owner");
  tokens = () => this.#json<{ tokens: TokenState[] }>("GET", "/v1/tokens");
  createToken = (request: CreateTokenRequest) => this.#json<NewToken>("POST", "/v1/tokens", request);
  revokeToken = (id: string) => this.#json<void>("DELETE", `/v1/tokens/${id}`);
  pushKey = () => this.#json<{ public_key: string }>("GET", "/v1/push/key");
  invite = () => this.#json<Invitation>("POST", "/v1/invitations");

  openPairing = (id: string) =>
    this.#json<{ pairing_id: string; expires_at: number }>("POST", "/v1/pairings", { pairing_id: id });
  /** Answers as soon as the status is no longer `was`, after 25 s at the latest. */
  pairing = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json<PairingState>("GET", `/v1/pairings/${id}?wait=25&was=${was}`, undefined, signal);
  greetPairing = (id: string, nonce: string) => this.#json<void>("POST", `/v1/pairings/${id}/greet`, { nonce });
  approvePairing = (id: string, approval: SignedApproval) =>
    this.#json<void>("POST", `/v1/pairings/${id}/approve`, approval);
  rejectPairing = (id: string) => this.#json<void>("DELETE", `/v1/pairings/${id}`);
  claimPairing = (id: string, request: ClaimRequest) =>
    this.#json<ClaimResponse>("POST", `/v1/pairings/${id}/claim`, request);
  pairingOutcome = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json<OutcomeState>("GET", `/v1/pairings/${id}/outcome?wait=25&was=${was}`, undefined, signal);
  revealPairing = (id: string, nonce: string) => this.#json<void>("POST", `/v1/pairings/${id}/reveal`, { nonce });

  /** Opens the stream behind `after`; its body ends when `signal` is aborted. */
  openSync = (after: number, signal: AbortSignal) => this.#send("GET", `/v1/sync?after=${after}`, undefined, signal);

  async #json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.#send(method, path, body, signal);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  async #send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.#token) headers["Authorization"] = `Bearer ${this.#token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, cache: "no-store", credentials: "omit", redirect: "error" };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    let response: Response;
    try {
      response = await this.#fetch(this.#base + path, init);
    } catch (error) {
      throw new UnreachableError(String(error));
    }
    const date = Date.parse(response.headers.get("Date") ?? "");
    if (!Number.isNaN(date)) this.#onServerTime(date / 1000);
    if (!response.ok) throw await refusalOf(response);
    return response;
  }
}

/** Seconds that `clock` is behind the server, or null where the difference proves nothing. */
export function skewOf(serverSeconds: number, clock: Clock): number | null {
  const behind = serverSeconds - clock.now();
  return Math.abs(behind) > SKEW_TOLERANCE_SECONDS ? behind : null;
}

/** The pairing is over or unknown: nothing is left to be withdrawn. */
export function isClosedPairing(error: unknown): boolean {
  return error instanceof RefusedError && (error.status === 404 || error.code === "pairing_closed");
}

async function refusalOf(response: Response): Promise<RefusedError> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
  // A proxy in between answers in whatever form it likes, and 401 is flat.
  const body = (await response.json().catch(() => ({}))) as { error?: unknown; message?: unknown };
  const error = typeof body.error === "object" && body.error !== null ? body.error : { code: body.error };
  const { code, message, details } = { message: body.message, ...error } as Record<string, unknown>;
  return new RefusedError(
    response.status,
    typeof code === "string" ? code : `http_${response.status}`,
    typeof message === "string" ? message : `The server answered ${response.status}`,
    typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {},
    retryAfter,
  );
}
