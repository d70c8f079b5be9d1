/** The stream from the server: resumes, acknowledges, and comes back after every fall. Source: protocol.md "Sync". */

import type { Api } from "./api.ts";
import { Backoff } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import type { Intake } from "./intake.ts";
import { ForeignReplyError, RefusedError, UnreachableError } from "./refusals.ts";
import { SseParser } from "./sse.ts";
import type { Store } from "./store.ts";
import { isSyncEntry } from "./wire/checks.ts";
import type { SyncEntry } from "./wire/types.ts";

/** The server sends a comment every 20 s: a connection that misses two is taken for dead, even if TCP still holds it. */
export const SILENCE_MAX_SECONDS = 50;

/** `waiting`: the last try found no server; `foreign`: it found something else that answered in the server's place. */
export type LinkState = "connecting" | "live" | "waiting" | "foreign" | "revoked";

export interface SyncParts {
  api: Api;
  store: Store;
  intake: Intake;
  clock: Clock;
  random: () => number;
  onState: (state: LinkState) => void;
}

export class SyncClient {
  readonly #parts: SyncParts;
  readonly #backoff: Backoff;
  readonly #acks: AckSender;
  #pause: AbortController | null = null;
  #connection: AbortController | null = null;
  #isLive = false;

  constructor(parts: SyncParts) {
    this.#parts = parts;
    this.#backoff = new Backoff(parts.random);
    this.#acks = new AckSender(parts.api);
  }

  /** Runs until `signal` is aborted or the server says that this device is revoked. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onState } = this.#parts;
    signal.addEventListener("abort", () => {
      this.#pause?.abort();
      this.#connection?.abort();
    });
    onState("connecting");
    while (!signal.aborted) {
      let retryAfterSeconds = 0;
      // A stream that fell says nothing about the server; the next try does.
      let state: LinkState = "connecting";
      this.#isLive = false;
      try {
        await this.#connect();
      } catch (error) {
        if (error instanceof RefusedError && error.isRevocation) return onState("revoked");
        const isOutage = error instanceof RefusedError || error instanceof UnreachableError;
        if (isOutage) retryAfterSeconds = error.retryAfterSeconds;
        if (error instanceof ForeignReplyError) state = "foreign";
        else if (!this.#isLive) state = "waiting";
      }
      if (signal.aborted) return;
      onState(state);
      this.#pause = new AbortController();
      await clock.wait(this.#backoff.nextSeconds(retryAfterSeconds), this.#pause.signal);
      this.#pause = null;
    }
  }

  /** The network or the page is back: do not sit out the pause, and do not trust a line that was asleep. */
  wake({ reconnect }: { reconnect: boolean }): void {
    this.#backoff.reset();
    this.#pause?.abort();
    if (reconnect) this.#connection?.abort();
  }

  async #connect(): Promise<void> {
    const { api, store, clock, onState } = this.#parts;
    const connection = new AbortController();
    this.#connection = connection;
    try {
      const after = await store.cursor();
      const stream = await within(api.openSync(after, connection.signal), clock, connection);
      this.#isLive = true;
      onState("live");
      await this.#read(stream.getReader(), after, connection);
    } finally {
      connection.abort();
      this.#connection = null;
    }
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, cursor: number, connection: AbortController) {
    const { intake, clock } = this.#parts;
    const parser = new SseParser();
    let after = cursor;
    for (;;) {
      const { value, done } = await within(reader.read(), clock, connection);
      if (done) return;
      this.#backoff.reset();
      const entries = parser.push(value).flatMap(({ event, data }) => (event === "message" ? [entryOf(data)] : []));
      const last = entries.at(-1);
      if (!last) continue;
      // A server restored from a backup starts below the cursor it was given.
      await intake.takeRun(entries, (entries[0]?.seq ?? 0) <= after);
      after = last.seq;
      this.#acks.send(after);
    }
  }
}

/** One acknowledgement at a time, always of the latest; one that fails is covered by the next. */
class AckSender {
  readonly #api: Api;
  #next: number | null = null;
  #isBusy = false;

  constructor(api: Api) {
    this.#api = api;
  }

  async send(seq: number): Promise<void> {
    this.#next = seq;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#next !== null) {
      const due: number = this.#next;
      this.#next = null;
      await this.#api.ack(due).catch(() => undefined);
    }
    this.#isBusy = false;
  }
}

function entryOf(data: string): SyncEntry {
  let entry: unknown = null;
  try {
    entry = JSON.parse(data);
  } catch {
    // not JSON: refused below, like JSON of another shape
  }
  if (!isSyncEntry(entry)) throw new ForeignReplyError();
  return entry;
}

/** Waits for `work`, but aborts the connection, and with it the work, when it stays silent for too long. */
async function within<T>(work: Promise<T>, clock: Clock, connection: AbortController): Promise<T> {
  const settled = new AbortController();
  const alarm = clock.wait(SILENCE_MAX_SECONDS, settled.signal).then(() => {
    if (!settled.signal.aborted) connection.abort();
  });
  try {
    return await work;
  } finally {
    settled.abort();
    await alarm;
  }
}
