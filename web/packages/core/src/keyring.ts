/** The keys that this device shares with each sender: the server, and the owner's other devices. */

import { type Bytes, fromBase64 } from "./bytes.ts";
import type { DeviceKeys } from "./keys.ts";

export const SERVER = "server";

/** The X25519 key, in base64, of a device whose keys were checked; null for any other. */
export type FindPeerKey = (deviceId: string) => Promise<string | null>;

export class Keyring {
  readonly #keys: DeviceKeys;
  readonly #serverKey: string;
  readonly #findPeerKey: FindPeerKey;
  readonly #shared = new Map<string, Promise<Bytes>>();

  /** `serverKey` is base64. */
  constructor(keys: DeviceKeys, serverKey: string, findPeerKey: FindPeerKey = async () => null) {
    this.#keys = keys;
    this.#serverKey = serverKey;
    this.#findPeerKey = findPeerKey;
  }

  /** The key shared with a sender, null for one that is not known: the server's word for its keys is not enough. */
  async keyFor(sender: string): Promise<Bytes | null> {
    const theirs = sender === SERVER ? this.#serverKey : await this.#findPeerKey(sender);
    if (theirs === null) return null;
    const shared = this.#shared.get(theirs) ?? this.#keys.sharedKey(fromBase64(theirs));
    this.#shared.set(theirs, shared);
    return shared;
  }
}
