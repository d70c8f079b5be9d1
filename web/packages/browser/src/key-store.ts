/**
 * The device's keys in IndexedDB. They never leave the browser:
 * - where WebCrypto has X25519 and Ed25519, as CryptoKeys that no script can read, ours included;
 * - elsewhere as secrets encrypted under an AES key that no script can read. A script on this page could still use
 *   that key to decrypt them, which a copy of the database alone cannot.
 */

import {
  type Bytes,
  boxKey,
  type DeviceKeys,
  type DeviceSecrets,
  generateSecrets,
  keysFromSecrets,
} from "@reflecto/core";

export type StoredKeys =
  | { kind: "webcrypto"; box: CryptoKey; signing: CryptoKey; publicKey: Bytes; signingKey: Bytes }
  | { kind: "wrapped"; wrapping: CryptoKey; nonce: Bytes; sealed: Bytes };

const SECRET_BYTES = 32;
const AES_NONCE_BYTES = 12;

export async function makeKeys(): Promise<StoredKeys> {
  try {
    return await makeNativeKeys();
  } catch {
    return wrapSecrets(generateSecrets());
  }
}

export async function openKeys(stored: StoredKeys): Promise<DeviceKeys> {
  return stored.kind === "webcrypto" ? nativeKeys(stored) : keysFromSecrets(await unwrapSecrets(stored));
}

async function makeNativeKeys(): Promise<StoredKeys> {
  const box = (await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"])) as CryptoKeyPair;
  const signing = (await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign"])) as CryptoKeyPair;
  const stored: StoredKeys = {
    kind: "webcrypto",
    box: box.privateKey,
    signing: signing.privateKey,
    publicKey: await rawKey(box.publicKey),
    signingKey: await rawKey(signing.publicKey),
  };
  structuredClone(stored); // some browsers make such keys but cannot store them: better to know now
  const keys = nativeKeys(stored);
  await keys.sign(new Uint8Array(1));
  await keys.sharedKey(keysFromSecrets(generateSecrets()).publicKey);
  return stored;
}

function nativeKeys({ box, signing, publicKey, signingKey }: StoredKeys & { kind: "webcrypto" }): DeviceKeys {
  return {
    publicKey,
    signingKey,
    async sharedKey(theirs) {
      const theirKey = await crypto.subtle.importKey("raw", theirs, { name: "X25519" }, false, []);
      return boxKey(new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: theirKey }, box, 256)));
    },
    async sign(message) {
      return new Uint8Array(await crypto.subtle.sign({ name: "Ed25519" }, signing, message));
    },
  };
}

async function rawKey(key: CryptoKey): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.exportKey("raw", key));
}

export async function wrapSecrets(secrets: DeviceSecrets): Promise<StoredKeys> {
  const wrapping = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
  const nonce = crypto.getRandomValues(new Uint8Array(AES_NONCE_BYTES));
  const plain = new Uint8Array(2 * SECRET_BYTES);
  plain.set(secrets.box);
  plain.set(secrets.signingSeed, SECRET_BYTES);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, wrapping, plain);
  return { kind: "wrapped", wrapping, nonce, sealed: new Uint8Array(sealed) };
}

async function unwrapSecrets({ wrapping, nonce, sealed }: StoredKeys & { kind: "wrapped" }): Promise<DeviceSecrets> {
  const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv: nonce }, wrapping, sealed));
  return { box: plain.slice(0, SECRET_BYTES), signingSeed: plain.slice(SECRET_BYTES) };
}
