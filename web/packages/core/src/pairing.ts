/**
 * Pairing a further device: what phone and new device prove to each other past a server that may lie.
 * Pure; the order of the messages is in `pairing-phone.ts` and `pairing-device.ts`. Source: protocol.md "Pairing".
 */

import {
  type Bytes,
  concat,
  equalBytes,
  fromBase64,
  randomBytes,
  toBase64,
  toBase64Url,
  toHex,
  utf8,
} from "./bytes.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type DeviceKeys, KEY_BYTES, verifySignature } from "./keys.ts";
import type { ClaimRequest, ClaimState } from "./wire/types.ts";

export const NONCE_BYTES = 32;
export const PROOF_BYTES = 32;

const CONTEXT = "reflecto-pair-v1 ";
const LINK_VERSION = 0x01;
const LINK_BYTES = 1 + 16 + 3 * KEY_BYTES;
const CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_CHARS = 16;

export type DeviceType = ClaimRequest["type"];
export type DeviceClass = ClaimRequest["class"];

/** What came through the server is not what the other end said; the message names what differs. */
export class PairingLieError extends Error {}

/** A device's public keys in base64, as they travel. */
export interface PublicKeys {
  public_key: string;
  signing_key: string;
}

/** What both ends know and the server does not. */
export interface PairingSecret {
  pairingId: string;
  /** 32 bytes. */
  secret: Bytes;
}

/** What the link's fragment holds: a secret, and the keys of the phone that shows it. */
export interface PairingLink extends PairingSecret {
  phone: PublicKeys;
}

/** What the new device says of itself. */
export interface Claim extends Said {
  pairing_id: string;
}

/** A device in an approval. */
export interface ListedDevice extends Said {
  device_id: string;
}

/** A newer device may be of a class or a type that is not known here. */
type Said = Pick<ClaimState, "class" | "label" | "public_key" | "signing_key" | "type">;

/** What the approving phone says: whose devices these are, and the key the server seals with. */
export interface Approval {
  approved_at: number;
  approver_id: string;
  devices: ListedDevice[];
  owner_id: string;
  pairing_id: string;
  server_key: string;
}

/** What the new device knows by itself or was told by the server, to hold the approval against. */
export interface Joined {
  claim: Claim;
  deviceId: string;
  ownerId: string;
  serverKey: string;
  /** Of the link, or of the greeting whose digits were compared. */
  phone: PublicKeys;
}

export function publicKeysOf(keys: Pick<DeviceKeys, "publicKey" | "signingKey">): PublicKeys {
  return { public_key: toBase64(keys.publicKey), signing_key: toBase64(keys.signingKey) };
}

/** A code of 80 random bits, `XXXX-XXXX-XXXX-XXXX`. */
export function newPairingCode(): string {
  const chars = Array.from(randomBytes(CODE_CHARS), (byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length]).join("");
  return chars.replace(/.{4}(?=.)/g, "$&-");
}

/** Derives id and secret from a typed code; the server is told the id only. Throws RangeError for no code. */
export async function secretOfCode(typed: string): Promise<PairingSecret> {
  const chars = typed.replace(/[\s-]/g, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
  if (chars.length !== CODE_CHARS || [...chars].some((char) => !CODE_ALPHABET.includes(char))) {
    throw new RangeError("not a pairing code");
  }
  const [id, secret] = await Promise.all([mac(utf8(chars), "id"), mac(utf8(chars), "secret")]);
  return { pairingId: `par_${toHex(id.slice(0, 16))}`, secret };
}

/** The fragment, in base64url. */
export function fragmentOf({ pairingId, secret, phone }: PairingLink): string {
  const id = Uint8Array.from(pairingId.slice("par_".length).match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const keys = [fromBase64(phone.public_key), fromBase64(phone.signing_key)];
  return toBase64Url(concat(Uint8Array.of(LINK_VERSION), id, secret, ...keys));
}

/** Reads it. Throws RangeError if it is cut short, changed or of another version. */
export function linkOf(fragment: string): PairingLink {
  const raw = decoded(fragment, LINK_BYTES);
  if (!raw || raw[0] !== LINK_VERSION || /[^\w-]/.test(fragment)) throw new RangeError("not a pairing link");
  const keys = { public_key: toBase64(raw.slice(49, 81)), signing_key: toBase64(raw.slice(81)) };
  return { pairingId: `par_${toHex(raw.slice(1, 17))}`, secret: raw.slice(17, 49), phone: keys };
}

/** Canonical JSON, which all proofs about the new device cover. */
export function claimText(claim: Claim): string {
  const { class: deviceClass, label, pairing_id, public_key, signing_key, type } = claim;
  return canonicalJson({ class: deviceClass, label, pairing_id, public_key, signing_key, type });
}

/** The new device's proof. */
export async function proveClaim(secret: Bytes, claim: Claim): Promise<Bytes> {
  return mac(secret, `claim\n${claimText(claim)}`);
}

/** For the phone: checks what the server says of the new device. Throws PairingLieError. */
export async function checkClaim(secret: Bytes, claim: Claim, proof: string): Promise<void> {
  const expected = await proveClaim(secret, claim).catch(() => null); // a label that has no canonical form
  if (!expected || !isSame(proof, expected)) throw new PairingLieError("what it says of the new device is not true");
}

/** The new device's commitment to its nonce and to what it claimed. */
export async function commit(nonce: Bytes, claim: Claim): Promise<Bytes> {
  const message = concat(utf8(`${CONTEXT}commitment\n`), nonce, utf8(claimText(claim)));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", message));
}

/** For the phone: checks that the revealed nonce is the one that was committed to. Throws PairingLieError. */
export async function checkCommitment(commitment: string, nonce: Bytes, claim: Claim): Promise<void> {
  if (!isSame(commitment, await commit(nonce, claim))) {
    throw new PairingLieError("it changed the number the new device had fixed");
  }
}

/** The six digits both screens show. */
export async function digitsOf(
  secret: Bytes,
  claim: Claim,
  phone: PublicKeys,
  nonces: { phone: Bytes; device: Bytes },
): Promise<string> {
  const keys = [fromBase64(phone.public_key), fromBase64(phone.signing_key)];
  const seen = concat(utf8("digits\n"), nonces.phone, nonces.device, ...keys, utf8(claimText(claim)));
  const number = (await mac(secret, seen)).slice(0, 6).reduce((sum, byte) => sum * 256 + byte, 0); // 48 bits: exact
  return String(number % 1_000_000).padStart(6, "0");
}

/** The very characters that are proved, signed and passed on. Throws RangeError for a label without canonical form. */
export function approvalText(approval: Approval): string {
  return canonicalJson(approval as unknown as Parameters<typeof canonicalJson>[0]);
}

export async function proveApproval(secret: Bytes, text: string): Promise<Bytes> {
  return mac(secret, `approval\n${text}`);
}

/** What the phone signs. */
export function approvalMessage(text: string): Bytes {
  return utf8(`${CONTEXT}approval\n${text}`);
}

/** For the new device: checks the approval and returns it. Throws PairingLieError. */
export async function checkApproval(
  secret: Bytes,
  said: { approval: string; proof: string; signature: string },
  joined: Joined,
): Promise<Approval> {
  if (!isSame(said.proof, await proveApproval(secret, said.approval))) {
    throw new PairingLieError("the approval is not the phone’s");
  }
  if (!isSigned(joined.phone.signing_key, approvalMessage(said.approval), said.signature)) {
    throw new PairingLieError("the approval is not signed by the phone");
  }
  const approval = readApproval(said.approval);
  const { claim, deviceId, ownerId, serverKey, phone } = joined;
  if (approval.pairing_id !== claim.pairing_id || approval.owner_id !== ownerId || approval.server_key !== serverKey) {
    throw new PairingLieError("owner or server key are not those the phone knows");
  }
  const byId = new Map(approval.devices.map((device) => [device.device_id, device]));
  if (byId.size !== approval.devices.length) throw new PairingLieError("a device is listed twice");
  const self = byId.get(deviceId);
  if (!self || !isAsClaimed(self, claim)) throw new PairingLieError("this device is not listed as it is");
  const approver = byId.get(approval.approver_id);
  if (!approver || !isSameKeys(approver, phone)) throw new PairingLieError("the phone is not listed with its keys");
  return approval;
}

/** For the phone, before it lists them: a device whose keys it has seen has them still. Throws PairingLieError. */
export function checkKnown(devices: readonly ListedDevice[], known: Readonly<Record<string, PublicKeys>>): void {
  for (const device of devices) {
    const keys = Object.hasOwn(known, device.device_id) ? known[device.device_id] : undefined;
    if (keys && !isSameKeys(keys, device)) {
      throw new PairingLieError(`the keys of “${device.label}” are not those it had`);
    }
  }
}

export function isSameKeys(a: PublicKeys, b: PublicKeys): boolean {
  return a.public_key === b.public_key && a.signing_key === b.signing_key;
}

/** The bytes of base64 text, null where it is none or of another length. */
export function decoded(text: string, length: number): Bytes | null {
  try {
    const bytes = fromBase64(text);
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}

function isAsClaimed(device: ListedDevice, claim: Claim): boolean {
  const isSameName = device.label === claim.label && device.type === claim.type && device.class === claim.class;
  return isSameName && isSameKeys(device, claim);
}

function readApproval(text: string): Approval {
  const approval = parsed(text) as Partial<Approval> | null;
  const isList = Array.isArray(approval?.devices) && approval.devices.every(isListed);
  if (!approval || !isList) throw new PairingLieError("the approval is no device list");
  return approval as Approval;
}

function isListed(device: unknown): device is ListedDevice {
  const { device_id, label, type, class: deviceClass, public_key, signing_key } = (device ?? {}) as ListedDevice;
  const isText = [device_id, label, type, deviceClass].every((value) => typeof value === "string");
  return (
    isText && [public_key, signing_key].every((key) => typeof key === "string" && decoded(key, KEY_BYTES) !== null)
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isSigned(signingKey: string, message: Bytes, signature: string): boolean {
  const [key, raw] = [decoded(signingKey, KEY_BYTES), decoded(signature, 64)];
  return key !== null && raw !== null && verifySignature(key, message, raw);
}

function isSame(base64: string, expected: Bytes): boolean {
  const bytes = decoded(base64, expected.length);
  return bytes !== null && equalBytes(bytes, expected);
}

async function mac(key: Bytes, message: string | Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const text = concat(utf8(CONTEXT), typeof message === "string" ? utf8(message) : message);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text));
}
