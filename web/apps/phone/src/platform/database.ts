/** The one database that the page and its service worker share. */

import type { Device, Item, Peers, QueuedAnswer } from "@reflecto/core";
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { StoredKeys } from "./key-store.ts";
import { nameHere } from "./place.ts";

const NAME = nameHere("reflecto");
const VERSION = 1;

/** Single values, by name. */
export interface Facts {
  device: Device;
  keys: StoredKeys;
  /** The keys of the owner's other devices, as far as they are known. */
  peers: Peers;
  cursor: number;
  skewSeconds: number;
  /** The endpoint the server was told last. */
  pushEndpoint: string;
  /** What it was told last that this app can do. */
  reported: string;
  theme: "auto" | "light" | "dark";
  isQuiet: boolean;
}

interface Schema extends DBSchema {
  facts: { key: keyof Facts; value: Facts[keyof Facts] };
  items: { key: string; value: Item };
  answers: { key: string; value: QueuedAnswer };
}

export type Database = IDBPDatabase<Schema>;

export function openDatabase(): Promise<Database> {
  return openDB<Schema>(NAME, VERSION, {
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

export async function recall<Name extends keyof Facts>(database: Database, name: Name): Promise<Facts[Name] | null> {
  return ((await database.get("facts", name)) as Facts[Name] | undefined) ?? null;
}

export async function remember<Name extends keyof Facts>(database: Database, name: Name, value: Facts[Name]) {
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
