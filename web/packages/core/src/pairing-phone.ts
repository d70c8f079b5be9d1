/** The phone's side of a pairing: it invites, checks who comes, and approves. Source: protocol.md "Pairing". */

import { type Api, isClosedPairing, type PairingStatus } from "./api.ts";
import { randomBytes, toBase64 } from "./bytes.ts";
import type { Clock } from "./clock.ts";
import type { DeviceKeys } from "./keys.ts";
import {
  type Approval,
  approvalMessage,
  approvalText,
  type Claim,
  checkClaim,
  checkCommitment,
  checkKnown,
  decoded,
  digitsOf,
  fragmentOf,
  isSameKeys,
  type ListedDevice,
  NONCE_BYTES,
  newPairingCode,
  PairingLieError,
  proveApproval,
  publicKeysOf,
  secretOfCode,
} from "./pairing.ts";
import type { Peers } from "./peers.ts";
import { Cancelled, withRetries } from "./retry.ts";
import type { Device } from "./store.ts";
import type { ClaimState } from "./wire/types.ts";

export interface PhoneParts {
  api: Api;
  keys: DeviceKeys;
  device: Device;
  clock: Clock;
}

/** Who asks to join: checked, so that it may be shown. */
export interface Candidate {
  deviceId: string;
  claim: Claim;
  /** To compare with the other screen, where the code was typed. */
  digits: string | null;
}

export class PairingPhone {
  readonly code: string;
  /** For the link's fragment. */
  readonly fragment: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly #parts: PhoneParts;
  readonly #pairingId: string;
  readonly #secrets: { link: Uint8Array<ArrayBuffer>; code: Uint8Array<ArrayBuffer> };
  #claim: ClaimState | null = null;

  /** Invites one device. Throws RefusedError, UnreachableError. */
  static async invite(parts: PhoneParts): Promise<PairingPhone> {
    const code = newPairingCode();
    const { pairingId, secret } = await secretOfCode(code);
    const { expires_at } = await parts.api.openPairing(pairingId);
    return new PairingPhone(parts, { code, pairingId, expiresAt: expires_at, codeSecret: secret });
  }

  private constructor(
    parts: PhoneParts,
    opened: { code: string; pairingId: string; expiresAt: number; codeSecret: Uint8Array<ArrayBuffer> },
  ) {
    this.#parts = parts;
    this.code = opened.code;
    this.expiresAt = opened.expiresAt;
    this.#pairingId = opened.pairingId;
    this.#secrets = { link: randomBytes(32), code: opened.codeSecret };
    const phone = publicKeysOf(parts.keys);
    this.fragment = fragmentOf({ pairingId: opened.pairingId, secret: this.#secrets.link, phone });
  }

  /**
   * Waits for a device and checks what the server says of it. Where the server lied, the invitation is withdrawn.
   * Throws PairingLieError, RefusedError (404: it expired), Cancelled.
   */
  async meet(signal: AbortSignal): Promise<Candidate> {
    try {
      const { claim } = await this.#leave("open", signal);
      if (!claim) throw new PairingLieError("it says that somebody came, but not who");
      this.#claim = claim;
      const said = claimOf(claim, this.#pairingId);
      await checkClaim(this.#secret(claim), said, claim.proof);
      const digits = claim.commitment === null ? null : await this.#compare(claim.commitment, claim, said, signal);
      return { deviceId: claim.device_id, claim: said, digits };
    } catch (error) {
      if (error instanceof PairingLieError) await this.reject().catch(() => undefined);
      throw error;
    }
  }

  /**
   * Lets it join, and vouches for the owner's other devices. `peers` are the keys known here.
   * Throws PairingLieError (after withdrawing), RefusedError, UnreachableError.
   */
  async approve({ deviceId, claim }: Candidate, peers: Peers): Promise<void> {
    const { api, keys, clock } = this.#parts;
    try {
      const { devices } = await api.devices();
      const text = approvalText(this.#approvalOf(devices.map(listedOf), deviceId, claim, peers, clock.now()));
      const proof = await proveApproval(this.#secret(this.#claim), text);
      const signature = await keys.sign(approvalMessage(text));
      const approval = { approval: text, proof: toBase64(proof), signature: toBase64(signature) };
      await withRetries(() => api.approvePairing(this.#pairingId, approval), clock, new AbortController().signal, 3);
    } catch (error) {
      if (error instanceof PairingLieError) await this.reject().catch(() => undefined);
      throw error;
    }
  }

  /** Withdraws the invitation; a device that asked to join is told. */
  async reject(): Promise<void> {
    try {
      await this.#parts.api.rejectPairing(this.#pairingId);
    } catch (error) {
      if (!isClosedPairing(error)) throw error; // it was over anyway
    }
  }

  #approvalOf(listed: ListedDevice[], deviceId: string, claim: Claim, peers: Peers, now: number): Approval {
    const { device, keys } = this.#parts;
    const self = listed.filter((each) => each.device_id === device.deviceId);
    if (self.length !== 1 || !isSameKeys(self[0] as ListedDevice, publicKeysOf(keys))) {
      throw new PairingLieError("it does not list this phone with its keys");
    }
    checkKnown(listed, peers);
    const { pairing_id: _, ...asClaimed } = claim;
    return {
      approved_at: Math.floor(now),
      approver_id: device.deviceId,
      devices: [...listed.filter((each) => each.device_id !== deviceId), { ...asClaimed, device_id: deviceId }],
      owner_id: device.ownerId,
      pairing_id: this.#pairingId,
      server_key: device.serverKey,
    };
  }

  /** Only after the device has fixed its nonce does the phone show one: nobody can search for matching digits. */
  async #compare(commitment: string, claim: ClaimState, said: Claim, signal: AbortSignal): Promise<string> {
    const { api, clock, keys } = this.#parts;
    const nonce = randomBytes(NONCE_BYTES);
    await withRetries(() => api.greetPairing(this.#pairingId, toBase64(nonce)), clock, signal);
    await this.#leave("claimed", signal); // where the wait began before the greeting
    const revealed = (await this.#leave("greeted", signal)).claim;
    const deviceNonce = decoded(revealed?.nonce ?? "", NONCE_BYTES);
    if (!deviceNonce) throw new PairingLieError("it withholds the new device’s number");
    await checkCommitment(commitment, deviceNonce, said);
    return digitsOf(this.#secret(claim), said, publicKeysOf(keys), { phone: nonce, device: deviceNonce });
  }

  /** Waits until the status is another one. Throws Cancelled where the invitation was withdrawn or used meanwhile. */
  async #leave(was: PairingStatus, signal: AbortSignal) {
    const { api, clock } = this.#parts;
    for (;;) {
      const state = await withRetries(() => api.pairing(this.#pairingId, was, signal), clock, signal);
      if (state.status === "rejected" || state.status === "approved") throw new Cancelled();
      if (state.status !== was) return state;
    }
  }

  #secret(claim: ClaimState | null): Uint8Array<ArrayBuffer> {
    return claim?.commitment ? this.#secrets.code : this.#secrets.link;
  }
}

function claimOf(claim: ClaimState, pairingId: string): Claim {
  const { class: deviceClass, label, public_key, signing_key, type } = claim;
  return { class: deviceClass, label, pairing_id: pairingId, public_key, signing_key, type };
}

function listedOf(device: ListedDevice): ListedDevice {
  const { class: deviceClass, device_id, label, public_key, signing_key, type } = device;
  return { class: deviceClass, device_id, label, public_key, signing_key, type };
}
