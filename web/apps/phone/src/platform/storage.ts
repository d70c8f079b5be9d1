/** Whether the browser keeps what this device has: without a promise it may clear it when the disk is full. */

import { type Database, recall, remember } from "@reflecto/browser";

/** Somebody who was told that the browser refuses is not told again for a month. */
const QUIET_SECONDS = 30 * 86_400;

interface Preferences {
  /** When a person has put the warning away, Unix seconds. */
  storageRefusedAt: number;
}

/** False also where the browser cannot tell. */
export async function isEvictable(database: Database, now: number): Promise<boolean> {
  const refusedAt = (await recall<Preferences>(database, "storageRefusedAt")) ?? 0;
  if (now - refusedAt < QUIET_SECONDS) return false;
  return (await navigator.storage?.persisted?.().catch(() => true)) === false;
}

/** Asks the browser to keep it. False where it refuses: most do as long as the app is not installed. */
export async function keepStorage(): Promise<boolean> {
  return (await navigator.storage?.persist?.().catch(() => false)) ?? false;
}

export async function acceptEviction(database: Database, now: number): Promise<void> {
  await remember<Preferences>(database, "storageRefusedAt", now);
}
