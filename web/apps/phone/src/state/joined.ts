/** What a pairing leaves in this browser once it is through. */

import { type Database, forgetEverything, remember, type StoredKeys } from "@reflecto/browser";
import { type Admitted, peersOf } from "@reflecto/core";
import { SELF_REPORT } from "./enrol.ts";

export interface Joined extends Admitted {
  keys: StoredKeys;
}

/** What was here before is forgotten: this browser is another device now. */
export async function keepJoined(database: Database, { device, approval, keys }: Joined): Promise<void> {
  await forgetEverything(database);
  await remember(database, "reported", SELF_REPORT);
  await remember(database, "keys", keys);
  await remember(database, "peers", peersOf(approval));
  await remember(database, "device", device);
  void navigator.storage?.persist?.(); // the keys must not be cleared when the disk is full
}
