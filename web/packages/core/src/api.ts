/** The server's device side over HTTP. Source: protocol.md. */

import type { Clock } from "./clock.ts";
import type { DeviceClass, DeviceType, PublicKeys } from "./pairing.ts";
import { errorOf, ForeignReplyError, RefusedError, UnreachableError } from "./refusals.ts";
import { hasShape, type Shape } from "./shape.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface EnrollRequest {
  code: string;
  public_key: string;
  signing_key: string;
  label: string;
  type: "web" | "extension";
  class: "phone" | "desktop";
  app_build?: number;
  features?: readonly string[];
}

/** What a device may tell of itself; what is left out stays. */
export interface SelfReport {
  label?: string;
  app_build?: number;
  features?: readonly string[];
  push?: PushSubscriptionState | null;
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
  features?: readonly string[];
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

const ENROLLED: Shape = { owner_id: "string", device_id: "string", device_token: "string", server_key: "string" };
const ANSWERED: Shape = { id: "string", status: "string", choice_index: "number" };
const ENTRIES: Shape = { entries: "list" };
const NEW_TOKEN: Shape = { id: "string", label: "string", token: "string" };
const OPENED: Shape = { pairing_id: "string", expires_at: "number" };
const CLAIMED: Shape = { claim_token: "string", device_id: "string", expires_at: "number" };
const STATUS: Shape = { status: "string", expires_at: "number" };

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

  enroll = (request: EnrollRequest) => this.#json<EnrollResponse>("POST", "/v1/enroll", ENROLLED, request);
  answer = (id: string, body: { choice_index: number; answered_at: number; signature: string }) =>
    this.#json<{ choice_index: number }>("POST", `/v1/interactions/${id}/answer`, ANSWERED, body);
  ack = (seq: number) => this.#nothing("POST", "/v1/sync/ack", { seq });
  entries = async (after: number) => {
    const reply = await this.#json<{ entries: SyncEntry[] }>("GET", `/v1/sync/entries?after=${after}`, ENTRIES);
    if (!reply.entries.every(isEntry)) throw new ForeignReplyError();
    return reply;
  };
  devices = () => this.#json<{ devices: DeviceState[] }>("GET", "/v1/devices", { devices: "list" });
  updateSelf = (changes: SelfReport) =>
    this.#json<DeviceState>("PATCH", "/v1/devices/self", { device_id: "string", label: "string" }, changes);
  removeDevice = (id: string) => this.#nothing("DELETE", `/v1/devices/${id}`);
  disconnect = () => this.#nothing("DELETE", "/v1/owner");
  tokens = () => this.#json<{ tokens: TokenState[] }>("GET", "/v1/tokens", { tokens: "list" });
  createToken = (request: CreateTokenRequest) => this.#json<NewToken>("POST", "/v1/tokens", NEW_TOKEN, request);
  revokeToken = (id: string) => this.#nothing("DELETE", `/v1/tokens/${id}`);
  pushKey = () => this.#json<{ public_key: string }>("GET", "/v1/push/key", { public_key: "string" });
  stopRing = (id: string) => this.#nothing("POST", `/v1/rings/${id}/stop`);
  acknowledgeEmergency = (receipt: string) => this.#nothing("POST", `/v1/emergencies/${receipt}/acknowledge`);
  invite = () => this.#json<Invitation>("POST", "/v1/invitations", { code: "string", url: "string" });

  openPairing = (id: string) =>
    this.#json<{ pairing_id: string; expires_at: number }>("POST", "/v1/pairings", OPENED, { pairing_id: id });
  /** Answers as soon as the status is no longer `was`, after 25 s at the latest. */
  pairing = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json<PairingState>("GET", `/v1/pairings/${id}?wait=25&was=${was}`, STATUS, undefined, signal);
  greetPairing = (id: string, nonce: string) => this.#nothing("POST", `/v1/pairings/${id}/greet`, { nonce });
  approvePairing = (id: string, approval: SignedApproval) =>
    this.#nothing("POST", `/v1/pairings/${id}/approve`, approval);
  rejectPairing = (id: string) => this.#nothing("DELETE", `/v1/pairings/${id}`);
  claimPairing = (id: string, request: ClaimRequest) =>
    this.#json<ClaimResponse>("POST", `/v1/pairings/${id}/claim`, CLAIMED, request);
  pairingOutcome = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json<OutcomeState>("GET", `/v1/pairings/${id}/outcome?wait=25&was=${was}`, STATUS, undefined, signal);
  revealPairing = (id: string, nonce: string) => this.#nothing("POST", `/v1/pairings/${id}/reveal`, { nonce });

  /** Opens the stream behind `after`; its body ends when `signal` is aborted. */
  async openSync(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send("GET", `/v1/sync?after=${after}`, undefined, signal);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("Content-Type") ?? "");
    if (!isStream || !response.body) throw new ForeignReplyError();
    this.#heedClock(response);
    return response.body;
  }

  /** A reply of another shape is not the server's, whatever its status: a sign-in page is 200 as well. */
  async #json<T>(method: string, path: string, shape: Shape, body?: unknown, signal?: AbortSignal): Promise<T> {
    const response = await this.#send(method, path, body, signal);
    const reply: unknown = await response.json().catch(() => null);
    if (!hasShape(reply, shape)) throw new ForeignReplyError();
    this.#heedClock(response);
    return reply as T;
  }

  async #nothing(method: string, path: string, body?: unknown): Promise<void> {
    const response = await this.#send(method, path, body);
    if (response.status !== 204) throw new ForeignReplyError();
    this.#heedClock(response);
  }

  /** A reply with a status of success. */
  async #send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {};
    if (this.#token) headers["Authorization"] = `Bearer ${this.#token}`;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init: RequestInit = { method, headers, cache: "no-store", credentials: "omit", redirect: "manual" };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (signal) init.signal = signal;
    let response: Response;
    try {
      response = await this.#fetch(this.#base + path, init);
    } catch {
      throw new UnreachableError();
    }
    // The server redirects nothing; whoever does is not it, and must not get the token.
    if (response.type === "opaqueredirect") throw new ForeignReplyError();
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error instanceof RefusedError) this.#heedClock(response);
    throw error;
  }

  #heedClock(response: Response): void {
    const date = Date.parse(response.headers.get("Date") ?? "");
    if (!Number.isNaN(date)) this.#onServerTime(date / 1000);
  }
}

/** Seconds that `clock` is behind the server, or null where the difference proves nothing. */
export function skewOf(serverSeconds: number, clock: Clock): number | null {
  const behind = serverSeconds - clock.now();
  return Math.abs(behind) > SKEW_TOLERANCE_SECONDS ? behind : null;
}

/** The pairing is over or unknown: nothing is left to be withdrawn. */
export function isClosedPairing(error: unknown): boolean {
  return error instanceof RefusedError && ["not_found", "pairing_closed"].includes(error.code);
}

/** What the queue holds, in the form of this server. */
export function isEntry(value: unknown): value is SyncEntry {
  return hasShape(value, { seq: "number", from: "string", blob: "string" });
}
