/** A server that passes pairings on, and lies where a test tells it to. */

import type { ApproveRequest, ClaimRequest, ClaimState, PairingStatus, PeerState, PublicKeys } from "../src/index.ts";

const PHONE_TOKEN = "Bearer phone";
export const CLAIMED_ID = "dev_new";
const EXPIRES_AT = 1_754_800_600;

export class FakePairings {
  /** What each reply becomes on its way, by its call: the lies. */
  lies: Record<string, (reply: never) => unknown> = {};
  status: PairingStatus = "open";
  devices: PeerState[] = [];
  claim: ClaimState | null = null;
  readonly calls: string[] = [];
  readonly phone: PublicKeys;
  readonly serverKey: string;
  #nonce: string | null = null;
  #approval: ApproveRequest | null = null;
  #changed: (() => void)[] = [];

  constructor(phone: PublicKeys, serverKey: string) {
    this.phone = phone;
    this.serverKey = serverKey;
  }

  fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams } = new URL(url, "http://fake");
    const [, , , id = "", verb = ""] = pathname.split("/");
    const isPhone = new Headers(init.headers).get("Authorization") === PHONE_TOKEN;
    const call = `${init.method} ${verb || (pathname === "/v1/devices" ? "devices" : id ? "one" : "pairings")}`;
    this.calls.push(call);
    const was = searchParams.get("was");
    if (was !== null) await this.#until(() => this.status !== was, init.signal);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : {};
    const reply = this.#take(call, body, id, isPhone);
    if (reply === undefined) return new Response(null, { status: 204 });
    const told = this.lies[call]?.(reply as never) ?? reply;
    return Response.json(told);
  };

  #take(call: string, body: unknown, id: string, isPhone: boolean): unknown {
    switch (call) {
      case "POST pairings":
        return { pairing_id: (body as { pairing_id: string }).pairing_id, expires_at: EXPIRES_AT };
      case "POST claim": {
        const { commitment = null, ...claim } = body as ClaimRequest;
        this.claim = { ...claim, commitment, device_id: CLAIMED_ID, nonce: null };
        this.#step("claimed");
        return { claim_token: "claim", device_id: CLAIMED_ID, expires_at: EXPIRES_AT };
      }
      case "POST greet":
        this.#nonce = (body as { nonce: string }).nonce;
        return this.#step("greeted");
      case "POST reveal":
        this.claim = { ...(this.claim as ClaimState), nonce: (body as { nonce: string }).nonce };
        return this.#step("revealed");
      case "POST approve":
        this.#approval = body as ApproveRequest;
        return this.#step("approved");
      case "DELETE one":
        return this.#step("rejected");
      case "GET devices":
        return { devices: this.devices };
      default:
        return { expires_at: EXPIRES_AT, ...(isPhone ? this.#state(id) : this.#outcome()) };
    }
  }

  #state(id: string) {
    return { pairing_id: id, status: this.status, claim: this.claim };
  }

  #outcome() {
    const enrolled = { owner_id: "own_1", device_id: CLAIMED_ID, device_token: "new", server_key: this.serverKey };
    return {
      status: this.status,
      greeting: this.#nonce && { ...this.phone, nonce: this.#nonce },
      admission: this.#approval && { ...enrolled, ...this.#approval },
    };
  }

  #step(status: PairingStatus): undefined {
    this.status = status;
    for (const tell of this.#changed.splice(0)) tell();
  }

  #until(isDone: () => boolean, signal?: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => (isDone() ? resolve() : void this.#changed.push(look));
      signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      look();
    });
  }
}
