/** The store of a test, or of a client that keeps nothing. */

import { isAlarm, lifeOf, withLife } from "./alarms.ts";
import type { Envelope } from "./envelope.ts";
import { absorb, judge, keyOf, relatedKeys, tappedWith } from "./items.ts";
import type { Verdict } from "./lifecycle.ts";
import type { Alarm, AlarmLife, Change, Item, Question } from "./records.ts";
import { changeOf, isMuted, relabelled, type Senders, withChange } from "./senders.ts";
import type { Device, QueuedAnswer, Reach, Store } from "./store.ts";

export class MemoryStore implements Store {
  readonly #device: Device;
  readonly #items = new Map<string, Item>();
  readonly #answers = new Map<string, QueuedAnswer>();
  #cursor = 0;
  #senders: Senders = {};

  constructor(device: Device) {
    this.#device = device;
  }

  async device(): Promise<Device> {
    return this.#device;
  }

  async cursor(): Promise<number> {
    return this.#cursor;
  }

  async takeIn(envelopes: readonly Envelope[], reach: Reach | null, now: number): Promise<Change[]> {
    const changes = envelopes.flatMap((envelope) => {
      const { subject, ending } = relatedKeys(envelope);
      const known = {
        same: this.#items.get(keyOf(envelope.type, envelope.id)),
        subject: this.#items.get(subject ?? ""),
        ending: this.#items.get(ending ?? ""),
        isMuted: isMuted(this.#senders, envelope.source, now),
      };
      if (envelope.type === "token.changed" && !known.same) {
        const change = changeOf(envelope.payload);
        this.#senders = withChange(this.#senders, change, envelope.ts, envelope.payload.by);
        for (const [key, item] of this.#items) this.#items.set(key, relabelled(item, change));
      }
      const step = absorb(envelope, known, this.#device.deviceId, now);
      if (envelope.type === "interaction.closed" && step.length > 1) this.#answers.delete(envelope.id);
      for (const { item } of step) this.#items.set(item.key, item);
      return step;
    });
    if (reach) this.#cursor = reach.isRewound ? reach.seq : Math.max(this.#cursor, reach.seq);
    return changes;
  }

  async items(): Promise<Item[]> {
    return [...this.#items.values()];
  }

  async question(id: string): Promise<Question | null> {
    return this.#question(id) ?? null;
  }

  async tap(answer: QueuedAnswer, now: number): Promise<Question | null> {
    const question = this.#question(answer.id);
    const kept = question && tappedWith(question, answer, now);
    if (!kept) return null;
    this.#items.set(kept.key, kept);
    this.#answers.set(answer.id, answer);
    return kept;
  }

  async queuedAnswers(): Promise<QueuedAnswer[]> {
    return [...this.#answers.values()];
  }

  async judge(id: string, verdict: Verdict, now: number): Promise<Question | null> {
    this.#answers.delete(id);
    const question = this.#question(id);
    const judged = question && judge(question, verdict, now);
    if (!judged || judged === question) return null;
    this.#items.set(judged.key, judged);
    return judged;
  }

  async claimAnnouncement(key: string): Promise<boolean> {
    const item = this.#items.get(key);
    if (!item || item.isAnnounced) return false;
    this.#items.set(key, { ...item, isAnnounced: true } as Item);
    return true;
  }

  async changeAlarm(key: string, change: (life: AlarmLife) => AlarmLife | null, now: number): Promise<Item | null> {
    const item = this.#items.get(key);
    const life = item && isAlarm(item) ? change(lifeOf(item, now)) : null;
    if (!life) return null;
    const changed = withLife(item as Alarm, life);
    this.#items.set(key, changed);
    return changed;
  }

  #question(id: string): Question | undefined {
    return this.#items.get(keyOf("interaction", id)) as Question | undefined;
  }
}
