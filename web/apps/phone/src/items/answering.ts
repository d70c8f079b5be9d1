/** How the answers of a question stand and look. That is the phone's to say, never the asker's. Pure. */

import { briefOf, type Question, seenOf } from "@reflecto/core";

/** A label up to this long is one of a pair. */
const PAIR_LABEL_CHARS = 16;

/** `pair`: two, side by side. `pair-and-more`: a third, longer one above them. `list`: in the asker's order. */
export type Shape = "pair" | "pair-and-more" | "list";

export function shapeOf(choices: readonly string[]): Shape {
  if (choices.length === 2) return "pair";
  const [isFirstShort, isSecondShort, isThirdShort] = choices.map(
    (label) => Array.from(label).length <= PAIR_LABEL_CHARS,
  );
  return choices.length === 3 && isFirstShort && isSecondShort && !isThirdShort ? "pair-and-more" : "list";
}

/** Only the first of exactly Approve and Deny, tapped as any other: own labels and dangers are never recommended. */
export function isFilled({ payload }: Question): boolean {
  const { isDangerous, confirm } = briefOf(payload.given);
  const [first, second] = payload.choices;
  return payload.choices.length === 2 && first === "Approve" && second === "Deny" && !isDangerous && confirm === "tap";
}

/** Why a question can only be looked at; null where it can be answered. */
export function obstacleOf({ payload }: Question): "unknown" | "alike" | null {
  if (!briefOf(payload.given).isWhole) return "unknown";
  return new Set(payload.choices.map(seenOf)).size < payload.choices.length ? "alike" : null;
}
