/** The new device's side of a pairing: it asks to join, and believes nothing unproved. Source: protocol.md "Pairing". */

import type { Api, PairingStatus } from "./api.ts";
import { type Bytes, randomBytes, toBase64 } from "./bytes.ts";
import type { Clock } from "./clock.ts";
import { type DeviceKeys, KEY_BYTES } from "./keys.ts";
import {
  type Approval,
  type Claim,
  checkApproval,
  commit,
  type DeviceClass,
  type DeviceType,
  decoded,
  digitsOf,
  linkOf,
  NONCE_BYTES,
  PairingLieError,
  type PublicKeys,
  proveClaim,
  publicKeysOf,
  secretOfCode,
} from "./pairing.ts";
import { Cancelled, withRetries } from "./retry.ts";
import type { Device } from "./store.ts";
import type { ClaimResponse, OutcomeState } from "./wire/types.ts";

/** How the invitation was given: `phone` only by a link. */
export interface Invited {
  pairingId: string;
  secret: Bytes;
  phone: PublicKeys | null;
}

export interface DeviceParts {
  /** An API on the right server, with the token it is given. */
  apiFor: (token: string | null) => Api;
  keys: DeviceKeys;
  clock: Clock;
}

export interface SelfDescription {
  label: string;
  type: DeviceType;
  class: DeviceClass;
  appBuild: number;
  features: readonly string[];
}

/** Reads a link, a link's fragment or a typed code. Throws RangeError for none of them. */
export async function invitedBy(text: string): Promise<Invited> {
  const given = text.slice(text.lastIndexOf("#") + 1).trim();
  if (given.length > 100) return linkOf(given);
  return { ...(await secretOfCode(given)), phone: null };
}

/** What the new device has once it is admitted: who it is, and the devices the phone vouches for. */
export interface Admitted {
  device: Device;
  approval: Approval;
}

/** What this device says of itself. */
type OwnClaim = Claim & { class: DeviceClass };

const CLAIM_ATTEMPTS = 3;

export class PairingDevice {
  readonly #parts: DeviceParts;
  readonly #invited: Invited;
  readonly #claim: OwnClaim;
  readonly #nonce: Bytes;
  readonly #claimed: ClaimResponse;
  readonly #api: Api;
  #phone: PublicKeys | null;

  /** Asks to join. Throws RefusedError (404 unknown or expired, 409 used), UnreachableError. */
  static async claim(parts: DeviceParts, invited: Invited, self: SelfDescription): Promise<PairingDevice> {
    const { label, type, class: deviceClass, appBuild, features } = self;
    const said = { ...publicKeysOf(parts.keys), class: deviceClass, label, type };
    const claim = { ...said, pairing_id: invited.pairingId };
    const nonce = randomBytes(NONCE_BYTES);
    const proof = toBase64(await proveClaim(invited.secret, claim));
    const commitment = invited.phone ? {} : { commitment: toBase64(await commit(nonce, claim)) };
    const request = { ...said, ...commitment, proof, app_build: appBuild, features };
    const ask = () => parts.apiFor(null).claimPairing(invited.pairingId, request);
    // The same content again is fine: where only the reply was lost, the next one brings another token.
    const claimed = await withRetries(ask, parts.clock, new AbortController().signal, CLAIM_ATTEMPTS);
    return new PairingDevice(parts, invited, claim, nonce, claimed);
  }

  private constructor(parts: DeviceParts, invited: Invited, claim: OwnClaim, nonce: Bytes, claimed: ClaimResponse) {
    this.#parts = parts;
    this.#invited = invited;
    this.#claim = claim;
    this.#nonce = nonce;
    this.#claimed = claimed;
    this.#api = parts.apiFor(claimed.claim_token);
    this.#phone = invited.phone;
  }

  /** With a typed code: the digits to compare with the phone's. Throws PairingLieError, Cancelled, RefusedError. */
  async digits(signal: AbortSignal): Promise<string> {
    const { greeting } = await this.#leave("claimed", signal);
    const phoneNonce = decoded(greeting?.nonce ?? "", NONCE_BYTES);
    const keys = [greeting?.public_key, greeting?.signing_key].map((key) => decoded(key ?? "", KEY_BYTES));
    if (!greeting || !phoneNonce || keys.includes(null)) throw new PairingLieError("the phone’s greeting is none");
    this.#phone = { public_key: greeting.public_key, signing_key: greeting.signing_key };
    const reveal = () => this.#api.revealPairing(this.#claim.pairing_id, toBase64(this.#nonce));
    await withRetries(reveal, this.#parts.clock, signal);
    return digitsOf(this.#invited.secret, this.#claim, this.#phone, { phone: phoneNonce, device: this.#nonce });
  }

  /** Waits for the phone's approval and checks it. Throws PairingLieError, Cancelled (rejected), RefusedError. */
  async admission(signal: AbortSignal): Promise<Admitted> {
    const outcome = await this.#leave(this.#invited.phone ? "claimed" : "revealed", signal);
    const { admission } = outcome;
    if (!admission || !this.#phone) throw new PairingLieError("it says that the phone approved, but shows nothing");
    const { owner_id, device_id, device_token, server_key } = admission;
    const joined = {
      claim: this.#claim,
      deviceId: this.#claimed.device_id,
      ownerId: owner_id,
      serverKey: server_key,
      phone: this.#phone,
    };
    if (device_id !== this.#claimed.device_id) throw new PairingLieError("this device is given another’s id");
    const approval = await checkApproval(this.#invited.secret, admission, joined);
    const device = {
      ownerId: owner_id,
      deviceId: device_id,
      deviceToken: device_token,
      serverKey: server_key,
      label: this.#claim.label,
      deviceClass: this.#claim.class,
    };
    return { device, approval };
  }

  /** Waits until the status is another one. */
  async #leave(was: PairingStatus, signal: AbortSignal): Promise<OutcomeState> {
    for (;;) {
      const ask = () => this.#api.pairingOutcome(this.#claim.pairing_id, was, signal);
      const outcome = await withRetries(ask, this.#parts.clock, signal);
      if (outcome.status === "rejected") throw new Cancelled();
      if (outcome.status !== was) return outcome;
    }
  }
}
