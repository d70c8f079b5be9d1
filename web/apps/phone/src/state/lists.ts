/** What each screen lists. Pure. */

import { type Ending, type Item, isEnding, isOver, type Note, phaseAt, type Question, seenOf } from "@reflecto/core";

export type NoteItem = Exclude<Note, Ending>;

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
export function inbox(items: readonly Item[], now: number): NoteItem[] {
  return items
    .filter((item) => item.type !== "interaction" && !isEnding(item))
    .filter((item) => item.type !== "notification" || now < (item.payload.delete_at ?? Number.POSITIVE_INFINITY))
    .filter((item) => item.type !== "token.created" || item.payload.token !== "")
    .sort((a, b) => b.ts - a.ts || b.receivedAt - a.receivedAt);
}

export function unreadCount(items: readonly Item[], now: number): number {
  return inbox(items, now).filter((item) => !item.isRead).length;
}

export type Filter = "all" | "questions" | "messages" | "documents";

/** What is past, newest first: ended questions and everything of the inbox. */
export function history(items: readonly Item[], now: number, filter: Filter, search: string): (Question | NoteItem)[] {
  const ended = questions(items, now).filter((question) => isOver(question.phase));
  const wanted = seenOf(search).toLocaleLowerCase();
  return [...ended, ...inbox(items, now)]
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
  return seenOf([from, ...texts.filter((text) => typeof text === "string")].join("\n"));
}
