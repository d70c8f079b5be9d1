/** Takes entries of the server's queue into the store: those of the stream, of a push, and those that are fetched. */

import type { Api } from "./api.ts";
import { BadBlobError } from "./blob.ts";
import { fromBase64 } from "./bytes.ts";
import type { Clock } from "./clock.ts";
import { BadEnvelopeError, type Envelope, openEnvelope } from "./envelope.ts";
import { type Keyring, SERVER } from "./keyring.ts";
import type { Change } from "./records.ts";
import type { Reach, Store } from "./store.ts";
import type { SyncEntry } from "./wire/types.ts";

/** What another device may send. Questions, their ends and tokens come from the server alone. */
const PEER_TYPES: readonly Envelope["type"][] = ["notification", "document", "ring"];

export type OnChanges = (changes: Change[]) => void | Promise<void>;

export class Intake {
  readonly #store: Store;
  readonly #keyring: Keyring;
  readonly #clock: Clock;
  readonly #onChanges: OnChanges;

  constructor(store: Store, keyring: Keyring, clock: Clock, onChanges: OnChanges) {
    this.#store = store;
    this.#keyring = keyring;
    this.#clock = clock;
    this.#onChanges = onChanges;
  }

  /** Stores a run of entries from the queue, in order, and moves the cursor behind them. */
  async takeRun(entries: readonly SyncEntry[], isRewound: boolean): Promise<void> {
    const last = entries.at(-1);
    if (last) await this.#take(entries, { seq: last.seq, isRewound });
  }

  /**
   * Stores one entry that came by itself: what lies before it in the queue may still be missing.
   * False where it could not be read.
   */
  async takeSingle(entry: Pick<SyncEntry, "from" | "blob">): Promise<boolean> {
    return (await this.#take([entry], null)) > 0;
  }

  /** Returns how many could be read. */
  async #take(entries: readonly Pick<SyncEntry, "from" | "blob">[], reach: Reach | null): Promise<number> {
    const opened = await Promise.all(entries.map((entry) => this.#open(entry)));
    const envelopes = opened.filter((envelope) => envelope !== null);
    const changes = await this.#store.takeIn(envelopes, reach, this.#clock.now());
    if (changes.length > 0) await this.#onChanges(changes);
    return envelopes.length;
  }

  /** Null for what this app cannot read: it must not hold up what comes behind it. */
  async #open({ from, blob }: Pick<SyncEntry, "from" | "blob">): Promise<Envelope | null> {
    const key = await this.#keyring.keyFor(from);
    if (!key) return null;
    try {
      const envelope = openEnvelope(key, fromBase64(blob));
      return from === SERVER || PEER_TYPES.includes(envelope.type) ? envelope : null;
    } catch (error) {
      if (error instanceof BadBlobError || error instanceof BadEnvelopeError || isDecodingError(error)) return null;
      throw error;
    }
  }
}

/** Fetches and stores everything behind the cursor, then lets the server drop it. For wake-ups without a stream. */
export async function pullEntries(api: Api, store: Store, intake: Intake): Promise<void> {
  const start = await store.cursor();
  let after = start;
  for (;;) {
    const { entries } = await api.entries(after);
    const last = entries.at(-1);
    if (!last) break;
    await intake.takeRun(entries, last.seq <= after);
    after = last.seq;
    await api.ack(after);
  }
}

function isDecodingError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === "InvalidCharacterError");
}
