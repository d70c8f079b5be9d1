/** The server's device side over HTTP. Source: protocol.md. */

import { randomBytes, toHex } from "./bytes.ts";
import type { Check } from "./check.ts";
import type { Clock } from "./clock.ts";
import { errorOf, ForeignReplyError, RefusedError, UnreachableError } from "./refusals.ts";
import {
  isAnswerResponse,
  isClaimResponse,
  isCreatePairingResponse,
  isDeviceState,
  isDismissAllResponse,
  isDismissResponse,
  isEnrollResponse,
  isInvitationResponse,
  isNewToken,
  isOutcomeState,
  isPairingState,
  isPeerList,
  isPushKeyResponse,
  isSyncPage,
  isTokenList,
  isTokenState,
} from "./wire/checks.ts";
import type {
  AnswerRequest,
  ApproveRequest,
  ClaimRequest,
  CreateTokenRequest,
  EnrollRequest,
  PairingState,
  UpdateDeviceRequest,
  UpdateTokenRequest,
} from "./wire/types.ts";

/** Where a pairing stands. */
export type PairingStatus = PairingState["status"];

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A server's clock may differ by the granularity of `Date` and the way here; more than this is a wrong clock. */
export const SKEW_TOLERANCE_SECONDS = 5;

export class Api {
  readonly #base: string;
  readonly #token: string | null;
  readonly #fetch: Fetch;
  readonly #onServerTime: (unixSeconds: number) => void;
  /** The keys of requests that may have been carried out, by what they ask for. */
  readonly #undecided = new Map<string, string>();

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

  enroll = (request: EnrollRequest) => this.#once("/v1/enroll", isEnrollResponse, request);
  answer = (id: string, answer: AnswerRequest) =>
    this.#json("POST", `/v1/interactions/${id}/answer`, isAnswerResponse, answer);
  /** Refuses a question: it ends without an answer. */
  dismiss = (id: string) =>
    this.#json("POST", `/v1/interactions/${id}/dismiss`, isDismissResponse, { reason: "dismissed" });
  ack = (seq: number) => this.#nothing("POST", "/v1/sync/ack", { seq });
  entries = (after: number) => this.#json("GET", `/v1/sync/entries?after=${after}`, isSyncPage);
  devices = () => this.#json("GET", "/v1/devices", isPeerList);
  updateSelf = (changes: UpdateDeviceRequest) => this.#json("PATCH", "/v1/devices/self", isDeviceState, changes);
  removeDevice = (id: string) => this.#nothing("DELETE", `/v1/devices/${id}`);
  disconnect = () => this.#nothing("DELETE", "/v1/owner");
  tokens = () => this.#json("GET", "/v1/tokens", isTokenList);
  createToken = (request: CreateTokenRequest) => this.#once("/v1/tokens", isNewToken, request);
  updateToken = (id: string, changes: UpdateTokenRequest) =>
    this.#json("PATCH", `/v1/tokens/${id}`, isTokenState, changes);
  /** Refuses all open questions of a sender. */
  dismissQuestions = (id: string) => this.#json("POST", `/v1/tokens/${id}/dismiss`, isDismissAllResponse);
  revokeToken = (id: string) => this.#nothing("DELETE", `/v1/tokens/${id}`);
  pushKey = () => this.#json("GET", "/v1/push/key", isPushKeyResponse);
  stopRing = (id: string) => this.#nothing("POST", `/v1/rings/${id}/stop`);
  acknowledgeEmergency = (receipt: string) => this.#nothing("POST", `/v1/emergencies/${receipt}/acknowledge`);
  invite = () => this.#once("/v1/invitations", isInvitationResponse);

  openPairing = (id: string) => this.#once("/v1/pairings", isCreatePairingResponse, { pairing_id: id });
  /** Answers as soon as the status is no longer `was`, after 25 s at the latest. */
  pairing = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json("GET", `/v1/pairings/${id}?wait=25&was=${was}`, isPairingState, undefined, signal);
  greetPairing = (id: string, nonce: string) => this.#nothing("POST", `/v1/pairings/${id}/greet`, { nonce });
  approvePairing = (id: string, approval: ApproveRequest) =>
    this.#nothing("POST", `/v1/pairings/${id}/approve`, approval);
  rejectPairing = (id: string) => this.#nothing("DELETE", `/v1/pairings/${id}`);
  claimPairing = (id: string, request: ClaimRequest) =>
    this.#once(`/v1/pairings/${id}/claim`, isClaimResponse, request);
  pairingOutcome = (id: string, was: PairingStatus, signal: AbortSignal) =>
    this.#json("GET", `/v1/pairings/${id}/outcome?wait=25&was=${was}`, isOutcomeState, undefined, signal);
  revealPairing = (id: string, nonce: string) => this.#nothing("POST", `/v1/pairings/${id}/reveal`, { nonce });

  /** Opens the stream behind `after`; its body ends when `signal` is aborted. */
  async openSync(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send("GET", `/v1/sync?after=${after}`, undefined, signal);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("Content-Type") ?? "");
    if (!isStream || !response.body) throw new ForeignReplyError();
    this.#heedClock(response);
    return response.body;
  }

  /** Makes something once: asked for again while the reply never came, it has the same key and gets the first reply. */
  async #once<T>(path: string, isReply: Check<T>, body?: unknown): Promise<T> {
    const request = `${path} ${JSON.stringify(body)}`;
    const key = this.#undecided.get(request) ?? toHex(randomBytes(16));
    this.#undecided.set(request, key);
    try {
      const reply = await this.#json("POST", path, isReply, body, undefined, { "Idempotency-Key": key });
      this.#undecided.delete(request);
      return reply;
    } catch (error) {
      if (error instanceof RefusedError && !error.isPassing) this.#undecided.delete(request);
      throw error;
    }
  }

  /** A reply of another shape is not the server's, whatever its status: a sign-in page is 200 as well. */
  async #json<T>(
    method: string,
    path: string,
    isReply: Check<T>,
    body?: unknown,
    signal?: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await this.#send(method, path, body, signal, headers);
    const reply: unknown = await response.json().catch(() => null);
    if (!isReply(reply)) throw new ForeignReplyError();
    this.#heedClock(response);
    return reply;
  }

  async #nothing(method: string, path: string, body?: unknown): Promise<void> {
    const response = await this.#send(method, path, body);
    if (response.status !== 204) throw new ForeignReplyError();
    this.#heedClock(response);
  }

  /** A reply with a status of success. */
  async #send(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    own: Record<string, string> = {},
  ): Promise<Response> {
    const headers: Record<string, string> = { ...own };
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
    // This server never redirects: a redirect is from another program, which must not get the token.
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
