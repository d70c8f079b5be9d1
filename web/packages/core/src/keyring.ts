/** The keys shared with whoever sends to this device. */

import { type Bytes, fromBase64 } from "./bytes.ts";
import type { DeviceKeys } from "./keys.ts";

export const SERVER = "server";

export class Keyring {
  readonly #keys: DeviceKeys;
  readonly #serverKey: string;
  #shared: Promise<Bytes> | null = null;

  /** `serverKey` is base64. */
  constructor(keys: DeviceKeys, serverKey: string) {
    this.#keys = keys;
    this.#serverKey = serverKey;
  }

  /**
   * The key shared with a sender, null for one that is not known.
   * Devices that were paired by the protocol will be looked up here, by their checked keys.
   */
  async keyFor(sender: string): Promise<Bytes | null> {
    if (sender !== SERVER) return null;
    this.#shared ??= this.#keys.sharedKey(fromBase64(this.#serverKey));
    return this.#shared;
  }
}
