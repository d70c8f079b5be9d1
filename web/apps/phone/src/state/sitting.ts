/** Which questions wait, in which order, and what this phone remembers of who asks. Its own memory, not the server's word. */

import { briefOf, type Item, type Question, seenOf } from "@reflecto/core";
import { isSameSender } from "../items/senders.ts";
import { questions } from "./lists.ts";

/** After a refusal, the sender's next question within this time says so. */
const REFUSAL_SECONDS = 600;

/** Those that a person can answer, the one that ends first on top. */
export function waitingQuestions(items: readonly Item[], now: number): Question[] {
  return questions(items, now)
    .filter(({ phase }) => phase === "open")
    .sort((a, b) => a.payload.expires_at - b.payload.expires_at || a.ts - b.ts);
}

/** For so long what is over stands as one line below what waits. */
const OVER_SECONDS = 600;

/** Those that were answered here or ended a moment ago, the newest first; one whose answer is on its way comes first. */
export function recentlyOver(items: readonly Item[], now: number): Question[] {
  return questions(items, now)
    .filter(({ phase, endedAt }) => phase !== "open" && now - (endedAt ?? now) < OVER_SECONDS)
    .sort((a, b) => (b.endedAt ?? now) - (a.endedAt ?? now));
}

/** The answer to another question of the same sender. `at`: Unix seconds. */
export interface Past {
  label: string;
  at: number;
}

/** An answer that was not the first choice. `difference`: what was other in its words, where they differ little. */
export interface Refusal extends Past {
  difference: string | null;
}

export interface Memory {
  isFirst: boolean;
  /** How many had come from this sender since midnight when this one came, itself among them. */
  today: number;
  /** How many have come from it since midnight by now. */
  asked: number;
  /** How many of this sender wait. */
  open: number;
  /** The answer to the same words, the last time. */
  last: Past | null;
  /** A choice that was not the first one, on the sender's question before this, a moment ago. */
  refusal: Refusal | null;
}

export function memoryOf(items: readonly Item[], question: Question, now: number): Memory {
  const all = questions(items, now).filter(({ source }) => isSameSender(source, question.source));
  const others = all.filter(({ id }) => id !== question.id);
  const earlier = others.filter(({ ts }) => ts <= question.ts);
  const answered = others
    .filter(({ phase, choiceIndex }) => choiceIndex !== null && (phase === "sent" || phase === "answered_elsewhere"))
    .sort((a, b) => (b.endedAt ?? b.ts) - (a.endedAt ?? a.ts));
  const words = seenOf(question.payload.question);
  const same = answered.find(({ payload }) => seenOf(payload.question) === words);
  const [latest] = answered;
  const isRecent = latest !== undefined && now - (latest.endedAt ?? 0) < REFUSAL_SECONDS;
  const isRefusal = isRecent && latest.choiceIndex !== 0 && latest.ts <= question.ts;
  const difference = isRefusal ? differenceOf(wordsOf(latest), wordsOf(question)) : null;
  return {
    isFirst: earlier.length === 0,
    today: earlier.filter(({ ts }) => isSameDay(ts, now)).length + 1,
    asked: all.filter(({ ts }) => isSameDay(ts, now)).length,
    open: all.filter(({ phase }) => phase === "open").length,
    last: same ? pastOf(same) : null,
    refusal: isRefusal ? { ...pastOf(latest), difference } : null,
  };
}

function pastOf({ payload, choiceIndex, endedAt, ts }: Question): Past {
  return { label: payload.choices[choiceIndex ?? 0] ?? "", at: endedAt ?? ts };
}

/** All that a person was to read of it. */
function wordsOf({ payload }: Question): string[] {
  const texts = briefOf(payload.given).blocks.flatMap((block) =>
    block.kind === "fields" ? block.fields.map(({ value }) => value) : [block.text],
  );
  return [payload.question, ...texts].join(" ").split(/\s+/);
}

/** The words of `before` that are not in `after`; null where there are none, or where less than half is alike. */
function differenceOf(before: readonly string[], after: readonly string[]): string | null {
  const shorter = Math.min(before.length, after.length);
  let front = 0;
  while (front < shorter && before[front] === after[front]) front += 1;
  let back = 0;
  while (back < shorter - front && before.at(-1 - back) === after.at(-1 - back)) back += 1;
  const isAlike = front + back >= Math.max(before.length, after.length) / 2;
  return isAlike ? before.slice(front, before.length - back).join(" ") || null : null;
}

function isSameDay(ts: number, now: number): boolean {
  return new Date(ts * 1000).toDateString() === new Date(now * 1000).toDateString();
}
