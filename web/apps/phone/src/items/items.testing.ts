/** Items as the store holds them, for tests. */

import { absorb, type Envelope, type Item, type Question } from "@reflecto/core";

export const NOW = 1_754_800_010;

const PLAIN = { html: false, monospace: false, timestamp: null, image: null, sound: null };
const NOTHING = { same: undefined, subject: undefined, ending: undefined };

export function itemOf(envelope: Envelope): Item {
  const [change] = absorb(envelope, NOTHING, "dev_self", NOW);
  return (change as { item: Item }).item;
}

export function questionOf(question: string, choices = ["Approve", "Deny"], changes: Partial<Question> = {}): Question {
  const payload = { question, choices, expires_at: NOW + 600 };
  const item = itemOf({ type: "interaction", id: "int_1", ts: NOW, source: { token: "CI" }, payload }) as Question;
  return { ...item, ...changes };
}

export function noteOf(changes: Partial<Extract<Envelope, { type: "notification" }>["payload"]>, id = "msg_1"): Item {
  const payload = {
    message: "Backup done",
    title: null,
    priority: "default" as const,
    tags: [],
    url: null,
    url_title: null,
    actions: [],
    markdown: false,
    ...PLAIN,
    delete_at: null,
    ...changes,
  };
  return itemOf({ type: "notification", id, ts: NOW, source: { token: "CI" }, payload });
}

export function ringOf(duration: number, expiresAt: number): Extract<Item, { type: "ring" }> {
  const payload = { duration, message: null, expires_at: expiresAt };
  const source = { token: "CI" };
  return itemOf({ type: "ring", id: "msg_9", ts: NOW, source, payload }) as Extract<Item, { type: "ring" }>;
}

export function emergencyOf(retry: number, expiresAt: number): Extract<Item, { type: "emergency" }> {
  const said = { message: "Writes fail", title: "Disk is full", url: null, url_title: null };
  const payload = { ...said, ...PLAIN, receipt: "r1", retry, expires_at: expiresAt };
  const source = { token: "Monitoring" };
  return itemOf({ type: "emergency", id: "msg_8", ts: NOW, source, payload }) as Extract<Item, { type: "emergency" }>;
}
