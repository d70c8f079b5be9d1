/** What each screen lists. Pure. */

import { type Item, isOver, type Note, type NoteOf, phaseAt, type Question, visibleText } from "@reflecto/core";

export type NoteItem = Exclude<Note, { type: "interaction.closed" }>;

/** Every question, with the phase of this instant; in the order they came, so that nothing moves under a finger. */
export function questions(items: readonly Item[], now: number): Question[] {
  return items
    .filter((item) => item.type === "interaction")
    .map((question) => ({ ...question, phase: phaseAt(question, now) }))
    .sort((a, b) => a.ts - b.ts || a.receivedAt - b.receivedAt || (a.id < b.id ? -1 : 1));
}

/** Those that still want something: an answer, or word from the server. */
export function openQuestions(items: readonly Item[], now: number): Question[] {
  return questions(items, now).filter((question) => !isOver(question.phase));
}

/** Everything but questions, newest first; a token that was copied and erased is not shown any more. */
export function inbox(items: readonly Item[]): NoteItem[] {
  return items
    .filter((item) => item.type !== "interaction" && item.type !== "interaction.closed")
    .filter((item) => item.type !== "token.created" || item.payload.token !== "")
    .sort((a, b) => b.ts - a.ts || b.receivedAt - a.receivedAt);
}

export function unreadCount(items: readonly Item[]): number {
  return inbox(items).filter((item) => !item.isRead).length;
}

/** The ring to sound now; one that was stopped, or came when its time was over, is silent. */
export function soundingRing(items: readonly Item[], now: number): NoteOf<"ring"> | null {
  return items.filter((item) => item.type === "ring").find((ring) => isSounding(ring, now)) ?? null;
}

/** Being listed somewhere does not end a ring: only its time does, or a hand. */
export function isSounding(item: Item, now: number): boolean {
  return item.type === "ring" && !item.isRead && now < ringEnd(item);
}

function ringEnd(ring: NoteOf<"ring">): number {
  const isLate = ring.receivedAt > ring.payload.expires_at;
  return isLate ? 0 : ring.receivedAt + ring.payload.duration;
}

export type Filter = "all" | "questions" | "messages" | "documents";

/** What is past, newest first: ended questions and everything of the inbox. */
export function history(items: readonly Item[], now: number, filter: Filter, search: string): (Question | NoteItem)[] {
  const ended = questions(items, now).filter((question) => isOver(question.phase));
  const wanted = search.trim().toLocaleLowerCase();
  return [...ended, ...inbox(items)]
    .filter((item) => filter === "all" || kindOf(item) === filter)
    .filter((item) => wanted === "" || textOf(item).toLocaleLowerCase().includes(wanted))
    .sort((a, b) => b.ts - a.ts);
}

function kindOf(item: Item): Filter {
  if (item.type === "interaction") return "questions";
  return item.type === "document" ? "documents" : "messages";
}

/** What a search looks through. */
export function textOf(item: Item): string {
  const from = item.source.token ?? item.source.server ?? "";
  const texts = Object.entries(item.payload).flatMap(([name, value]) => (name === "token" ? [] : [value].flat()));
  return visibleText([from, ...texts.filter((text) => typeof text === "string")].join("\n"));
}
