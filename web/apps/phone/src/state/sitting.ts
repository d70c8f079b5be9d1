/** Which questions wait, in which order, and what this phone remembers of who asks. Its own memory, not the server's word. */

import { type Item, type Question, seenOf } from "@reflecto/core";
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

/** What became of another question of the same sender. `at`: Unix seconds. */
export interface Past {
  label: string;
  question: string;
  at: number;
}

export interface Memory {
  isFirst: boolean;
  /** How many came from this sender since midnight, this one among them. */
  today: number;
  /** How many of this sender wait. */
  open: number;
  /** The answer to the same words, the last time. */
  last: Past | null;
  /** A choice that was not the first one, on the sender's question before this, a moment ago. */
  refusal: Past | null;
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
  return {
    isFirst: earlier.length === 0,
    today: all.filter(({ ts }) => isSameDay(ts, now)).length,
    open: all.filter(({ phase }) => phase === "open").length,
    last: same ? pastOf(same) : null,
    refusal: isRefusal ? pastOf(latest) : null,
  };
}

function pastOf({ payload, choiceIndex, endedAt, ts }: Question): Past {
  return { label: payload.choices[choiceIndex ?? 0] ?? "", question: payload.question, at: endedAt ?? ts };
}

function isSameDay(ts: number, now: number): boolean {
  return new Date(ts * 1000).toDateString() === new Date(now * 1000).toDateString();
}

/** A short time as a message takes it: seconds below a minute and a half, minutes above. */
export function quietSpan(seconds: number): { unit: "seconds" | "minutes"; count: number } {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 90 ? { unit: "seconds", count: whole } : { unit: "minutes", count: Math.round(whole / 60) };
}
