/** The device's own keys, and what is derived from them. Source: protocol.md "Keys and envelopes". */

import nacl from "tweetnacl";
import type { Bytes } from "./bytes.ts";

export const KEY_BYTES = 32;

/** A device's two key pairs. The secrets stay behind this interface. */
export interface DeviceKeys {
  /** X25519, raw. */
  readonly publicKey: Bytes;
  /** Ed25519, raw. */
  readonly signingKey: Bytes;
  /** The key shared with the owner of `publicKey`. Throws RangeError for a point of low order. */
  sharedKey(publicKey: Bytes): Promise<Bytes>;
  /** A 64-byte Ed25519 signature. */
  sign(message: Bytes): Promise<Bytes>;
}

export interface DeviceSecrets {
  /** X25519, 32 bytes. */
  box: Bytes;
  /** Ed25519 seed, 32 bytes. */
  signingSeed: Bytes;
}

export function generateSecrets(): DeviceSecrets {
  return { box: bytes(nacl.randomBytes(KEY_BYTES)), signingSeed: bytes(nacl.randomBytes(KEY_BYTES)) };
}

/** Keys computed in JavaScript, for platforms whose WebCrypto lacks the curves. */
export function keysFromSecrets(secrets: DeviceSecrets): DeviceKeys {
  const signing = nacl.sign.keyPair.fromSeed(secrets.signingSeed);
  return {
    publicKey: bytes(nacl.scalarMult.base(secrets.box)),
    signingKey: bytes(signing.publicKey),
    sharedKey: async (publicKey) => boxKey(bytes(nacl.scalarMult(secrets.box, publicKey))),
    sign: async (message) => bytes(nacl.sign.detached(message, signing.secretKey)),
  };
}

const HSALSA_CONSTANT = new TextEncoder().encode("expand 32-byte k");

interface LowLevel {
  crypto_core_hsalsa20(out: Uint8Array, input: Uint8Array, key: Uint8Array, constant: Uint8Array): void;
}

/** Turns the output of X25519 into the key of a secretbox: crypto_box_beforenm's second half (HSalsa20). */
export function boxKey(x25519: Bytes): Bytes {
  // The same key for everyone: what a point of low order gives (RFC 7748 6.1).
  if (x25519.every((byte) => byte === 0)) throw new RangeError("public key of low order");
  const key = new Uint8Array(KEY_BYTES);
  const { crypto_core_hsalsa20 } = (nacl as unknown as { lowlevel: LowLevel }).lowlevel;
  crypto_core_hsalsa20(key, new Uint8Array(16), x25519, HSALSA_CONSTANT);
  return key;
}

export function verifySignature(signingKey: Bytes, message: Bytes, signature: Bytes): boolean {
  return nacl.sign.detached.verify(message, signature, signingKey);
}

function bytes(array: Uint8Array): Bytes {
  return array as Bytes; // tweetnacl never hands out shared memory
}
