/** Wire blobs: `0x01 | nonce (24 bytes) | secretbox`. Source: protocol.md "Keys and envelopes". */

import nacl from "tweetnacl";
import type { Bytes } from "./bytes.ts";

export const VERSION = 0x01;
const NONCE_END = 1 + nacl.secretbox.nonceLength;
const MIN_BYTES = NONCE_END + nacl.secretbox.overheadLength;

/** The blob is of an unknown version, cut short, changed, or made under another key. */
export class BadBlobError extends Error {}

/** Encrypts under a 32-byte shared key. `nonce` is for tests alone: it must never repeat. */
export function seal(
  key: Uint8Array,
  plaintext: Uint8Array,
  nonce = nacl.randomBytes(nacl.secretbox.nonceLength),
): Bytes {
  const box = nacl.secretbox(plaintext, nonce, key);
  const blob = new Uint8Array(NONCE_END + box.length);
  blob[0] = VERSION;
  blob.set(nonce, 1);
  blob.set(box, NONCE_END);
  return blob;
}

/** Returns the plaintext. Throws BadBlobError. */
export function openBlob(key: Uint8Array, blob: Uint8Array): Bytes {
  if (blob.length < MIN_BYTES || blob[0] !== VERSION) throw new BadBlobError("unknown version or cut short");
  const plaintext = nacl.secretbox.open(blob.subarray(NONCE_END), blob.subarray(1, NONCE_END), key);
  if (plaintext === null) throw new BadBlobError("changed, or made under another key");
  return plaintext as Bytes;
}
