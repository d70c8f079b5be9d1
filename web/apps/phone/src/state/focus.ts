/** Which question is looked at. It changes by the person's hand, or once what became of it was there to be read. Pure. */

import { isOver, type Question } from "@reflecto/core";

/** So long is what became of a question shown before the next one takes its place. */
const RESULT_SECONDS = 3;

export interface Focus {
  id: string | null;
  /** Since when nothing can be done about it any more, Unix seconds; null while it waits for a person. */
  doneAt: number | null;
}

export const NO_FOCUS: Focus = { id: null, doneAt: null };

/** The focus that a person chose; what is over by then stays until they choose another. */
export function chosenFocus(id: string, questions: readonly Question[]): Focus {
  const chosen = questions.find((question) => question.id === id);
  return { id, doneAt: chosen && isOver(chosen.phase) ? Number.POSITIVE_INFINITY : null };
}

/** The focus at this instant. `waiting`: those that can be answered, the one that ends first on top. */
export function focusAt(
  focus: Focus,
  questions: readonly Question[],
  waiting: readonly Question[],
  now: number,
): Focus {
  const [next] = waiting;
  const current = questions.find(({ id }) => id === focus.id);
  if (!current) return { id: next?.id ?? null, doneAt: null };
  if (current.phase === "open") return { id: current.id, doneAt: null };
  const doneAt = focus.doneAt ?? now;
  return next && now - doneAt >= RESULT_SECONDS ? { id: next.id, doneAt: null } : { id: current.id, doneAt };
}

/** The waiting question after or before the one in focus, round and round; null where there is no other. */
export function neighbourOf(id: string | null, waiting: readonly Question[], step: 1 | -1): string | null {
  const others = waiting.filter((question) => question.id !== id);
  if (others.length === 0) return null;
  const at = waiting.findIndex((question) => question.id === id);
  const start = at < 0 && step < 0 ? 0 : at; // one that is over stands in front of all that wait
  return waiting[(start + step + waiting.length) % waiting.length]?.id ?? null;
}
