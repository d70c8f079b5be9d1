/** What each screen lists. Pure. */

import { type Ending, type Item, isEnding, isOver, type Note, phaseAt, type Question } from "@reflecto/core";

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
