/** What an enrolled device works with, put together alike for the page and for the service worker. */

import {
  AnswerQueue,
  type Api,
  checkedKeyOf,
  type Device,
  type DeviceKeys,
  Intake,
  Keyring,
  type OnChanges,
  SystemClock,
  skewOf,
} from "@reflecto/core";
import { type Database, recall, remember } from "./database.ts";
import { IdbStore } from "./idb-store.ts";
import { openKeys } from "./key-store.ts";
import type { ApiFor } from "./server.ts";

export interface Session {
  database: Database;
  device: Device;
  keys: DeviceKeys;
  store: IdbStore;
  api: Api;
  clock: SystemClock;
  intake: Intake;
  answers: AnswerQueue;
}

/** Null on a device that is not enrolled. `onChanges` hears of everything that comes or changes in this context. */
export async function openSession(database: Database, apiFor: ApiFor, onChanges: OnChanges): Promise<Session | null> {
  const device = await recall(database, "device");
  const stored = await recall(database, "keys");
  if (!device || !stored) return null;
  const keys = await openKeys(stored);
  const store = new IdbStore(database);
  const clock = new SystemClock((await recall(database, "skewSeconds")) ?? 0);
  const api = apiFor(device.deviceToken, (serverSeconds) => {
    const behind = skewOf(serverSeconds, clock);
    if (behind === null) return;
    clock.skewSeconds += behind;
    void remember(database, "skewSeconds", clock.skewSeconds);
  });
  const keyring = new Keyring(keys, device.serverKey, async (id) =>
    checkedKeyOf((await recall(database, "peers")) ?? {}, id),
  );
  return {
    database,
    device,
    keys,
    store,
    api,
    clock,
    intake: new Intake(store, keyring, clock, onChanges),
    answers: new AnswerQueue({ api, store, keys, clock, onChanges }),
  };
}
