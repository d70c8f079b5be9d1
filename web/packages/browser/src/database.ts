/** The one database that the page and its service worker share. */

import type { Device, Item, Peers, QueuedAnswer, Senders } from "@reflecto/core";
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { StoredKeys } from "./key-store.ts";

const VERSION = 1;

/** What is known of this device, by name. */
export interface Facts {
  device: Device;
  keys: StoredKeys;
  /** The keys of the owner's other devices, as far as they are known. */
  peers: Peers;
  /** Whom the owner has muted. */
  senders: Senders;
  cursor: number;
  skewSeconds: number;
  /** The endpoint the server was told last. */
  pushEndpoint: string;
  /** What it was told last that this app can do. */
  reported: string;
}

interface Schema extends DBSchema {
  facts: { key: string; value: unknown };
  items: { key: string; value: Item };
  answers: { key: string; value: QueuedAnswer };
}

export type Database = IDBPDatabase<Schema>;

/** Browsers keep one database of a `name` for a whole origin. */
export function openDatabase(name = "reflecto"): Promise<Database> {
  return openDB<Schema>(name, VERSION, {
    upgrade(database) {
      database.createObjectStore("facts");
      database.createObjectStore("items", { keyPath: "key" });
      database.createObjectStore("answers", { keyPath: "id" });
    },
    // A newer version of this app in another tab wants to change the schema: do not stand in its way.
    blocking(_current, _blocked, event) {
      (event.target as IDBDatabase).close();
    },
  });
}

/** Null for what was never remembered. An app may keep facts of its own beside the device's. */
export async function recall<All = Facts, Name extends keyof All & string = keyof All & string>(
  database: Database,
  name: Name,
): Promise<All[Name] | null> {
  return ((await database.get("facts", name)) as All[Name] | undefined) ?? null;
}

export async function remember<All = Facts, Name extends keyof All & string = keyof All & string>(
  database: Database,
  name: Name,
  value: All[Name],
): Promise<void> {
  await database.put("facts", value, name);
}

/** Everything of this device, keys included. */
export async function forgetEverything(database: Database): Promise<void> {
  const transaction = database.transaction(["facts", "items", "answers"], "readwrite");
  await Promise.all([
    transaction.objectStore("facts").clear(),
    transaction.objectStore("items").clear(),
    transaction.objectStore("answers").clear(),
    transaction.done,
  ]);
}
