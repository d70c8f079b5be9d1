/** The store of the app. Each method is one IndexedDB transaction, so page and worker never overwrite each other. */

import {
  type AlarmLife,
  absorb,
  type Change,
  changeOf,
  type Device,
  type Envelope,
  type Item,
  isAlarm,
  isMuted,
  judge,
  keyOf,
  lifeOf,
  type Question,
  type QueuedAnswer,
  type Reach,
  relabelled,
  relatedKeys,
  type SenderChange,
  type Senders,
  type Store,
  tappedWith,
  type Verdict,
  withChange,
  withLife,
} from "@reflecto/core";
import { type Database, recall } from "./database.ts";

/** The history keeps this much. */
export const ITEMS_MAX = 1000;
export const KEPT_SECONDS = 90 * 86_400;

export class IdbStore implements Store {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  device(): Promise<Device | null> {
    return recall(this.#database, "device");
  }

  async cursor(): Promise<number> {
    return (await recall(this.#database, "cursor")) ?? 0;
  }

  async takeIn(envelopes: readonly Envelope[], reach: Reach | null, now: number): Promise<Change[]> {
    const transaction = this.#database.transaction(["facts", "items", "answers"], "readwrite");
    const facts = transaction.objectStore("facts");
    const items = transaction.objectStore("items");
    const changes: Change[] = [];
    // Requests of one transaction are carried out in their order, so only what is read has to be waited for.
    const [device, before = 0, known = {}] = (await Promise.all([
      facts.get("device"),
      facts.get("cursor"),
      facts.get("senders"),
    ])) as [Device?, number?, Senders?];
    let senders = known;
    for (const envelope of device ? envelopes : []) {
      const related = relatedKeys(envelope);
      const [same, subject, ending] = await Promise.all([
        items.get(keyOf(envelope.type, envelope.id)),
        related.subject ? items.get(related.subject) : undefined,
        related.ending ? items.get(related.ending) : undefined,
      ]);
      if (envelope.type === "token.changed" && !same) {
        const { by } = envelope.payload;
        senders = withChange(senders, changeOf(envelope.payload), envelope.ts, by);
        for (const item of await items.getAll()) {
          const after = relabelled(item, changeOf(envelope.payload));
          if (after !== item) void items.put(after);
        }
      }
      const isQuiet = isMuted(senders, envelope.source, now);
      for (const change of absorb(envelope, { same, subject, ending, isMuted: isQuiet }, device?.deviceId ?? "", now)) {
        void items.put(change.item);
        if (change.what === "changed") void transaction.objectStore("answers").delete(change.item.id);
        changes.push(change);
      }
    }
    if (senders !== known) void facts.put(senders, "senders");
    if (reach) void facts.put(reach.isRewound ? reach.seq : Math.max(before, reach.seq), "cursor");
    await transaction.done;
    return changes;
  }

  items(): Promise<Item[]> {
    return this.#database.getAll("items");
  }

  async item(key: string): Promise<Item | null> {
    return (await this.#database.get("items", key)) ?? null;
  }

  async question(id: string): Promise<Question | null> {
    return (await this.item(keyOf("interaction", id))) as Question | null;
  }

  async tap(answer: QueuedAnswer, now: number): Promise<Question | null> {
    const transaction = this.#database.transaction(["items", "answers"], "readwrite");
    const items = transaction.objectStore("items");
    const question = (await items.get(keyOf("interaction", answer.id))) as Question | undefined;
    const kept = question && tappedWith(question, answer, now);
    if (!kept) return null;
    await items.put(kept);
    await transaction.objectStore("answers").put(answer);
    await transaction.done;
    return kept;
  }

  queuedAnswers(): Promise<QueuedAnswer[]> {
    return this.#database.getAll("answers");
  }

  async judge(id: string, verdict: Verdict, now: number): Promise<Question | null> {
    const transaction = this.#database.transaction(["items", "answers"], "readwrite");
    const items = transaction.objectStore("items");
    await transaction.objectStore("answers").delete(id);
    const question = (await items.get(keyOf("interaction", id))) as Question | undefined;
    const judged = question && judge(question, verdict, now);
    const hasChanged = judged !== undefined && judged !== question;
    if (hasChanged) await items.put(judged);
    await transaction.done;
    return hasChanged ? judged : null;
  }

  async claimAnnouncement(key: string): Promise<boolean> {
    const [claimed] = await this.#update([key], (item) => (item.isAnnounced ? null : { ...item, isAnnounced: true }));
    return claimed !== undefined;
  }

  async changeAlarm(key: string, change: (life: AlarmLife) => AlarmLife | null, now: number): Promise<Item | null> {
    const changed = await this.#update([key], (item) => {
      const life = isAlarm(item) ? change(lifeOf(item, now)) : null;
      return life && isAlarm(item) ? withLife(item, life) : null;
    });
    return changed[0] ?? null;
  }

  async senders(): Promise<Senders> {
    return (await recall(this.#database, "senders")) ?? {};
  }

  /** Keeps what this phone has changed of senders, or has learned of them from the server. */
  async changeSenders(changes: readonly SenderChange[], now: number): Promise<void> {
    const transaction = this.#database.transaction(["facts", "items"], "readwrite");
    const facts = transaction.objectStore("facts");
    const items = transaction.objectStore("items");
    const before = ((await facts.get("senders")) as Senders | undefined) ?? {};
    const isNews = ({ tokenId, mutedUntil = null }: SenderChange) =>
      (before[tokenId]?.mutedUntil ?? null) !== mutedUntil;
    const after = changes.filter(isNews).reduce((senders, change) => withChange(senders, change, now, null), before);
    void facts.put(after, "senders");
    for (const item of await items.getAll()) {
      const named = changes.reduce(relabelled, item);
      if (named !== item) void items.put(named);
    }
    await transaction.done;
  }

  /** Returns what was unread until now. */
  markRead(keys: readonly string[]): Promise<Item[]> {
    return this.#update(keys, (item) => (item.isRead ? null : { ...item, isRead: true }));
  }

  /** Keeps that they were seen, without their plaintext. */
  eraseTokens(keys: readonly string[]): Promise<Item[]> {
    return this.#update(keys, (item) =>
      item.type === "token.created" ? { ...item, isRead: true, payload: { ...item.payload, token: "" } } : null,
    );
  }

  async remove(keys: readonly string[]): Promise<void> {
    const transaction = this.#database.transaction("items", "readwrite");
    await Promise.all([...keys.map((key) => transaction.store.delete(key)), transaction.done]);
  }

  /** Drops what is too old or too much, questions that can still be answered excepted. */
  async prune(now: number): Promise<void> {
    const ended = (await this.items()).filter((item) => item.type !== "interaction" || item.payload.expires_at < now);
    const oldestFirst = ended.sort((a, b) => a.receivedAt - b.receivedAt);
    const excess = Math.max(0, oldestFirst.length - ITEMS_MAX);
    const due = oldestFirst.filter((item, index) => index < excess || item.receivedAt < now - KEPT_SECONDS);
    await this.remove(due.map(({ key }) => key));
  }

  async #update(keys: readonly string[], change: (item: Item) => Item | null): Promise<Item[]> {
    const transaction = this.#database.transaction("items", "readwrite");
    const updated: Item[] = [];
    for (const key of keys) {
      const item = await transaction.store.get(key);
      const after = item && change(item);
      if (!after) continue;
      await transaction.store.put(after);
      updated.push(after);
    }
    await transaction.done;
    return updated;
  }
}
