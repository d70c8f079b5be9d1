/** What is not as it should be, worst first, and what a person can do about each. Pure. */

import type { PushState } from "../platform/push.ts";

/** What the page knows of itself. Times are Unix seconds. */
export interface Situation {
  push: PushState;
  /** What keeps the server from being heard, and since when. */
  trouble: { kind: "waiting" | "foreign"; since: number } | null;
  /** The browser may clear keys and history when its disk is full. */
  isEvictable: boolean;
  /** A newer version of this app has taken over, and starts with the next load. */
  isOutdated: boolean;
  /** The questions are on the screen: there only what keeps an answer or a question from its way is said. */
  isAnswering: boolean;
  now: number;
}

export type Banner = "blocked" | "foreign" | "offline" | "evictable" | "outdated";

/** A line that comes back within this time was hardly away. */
export const OFFLINE_GRACE_SECONDS = 4;

export function bannersOf(situation: Situation): Banner[] {
  const { push, trouble, isEvictable, isOutdated, isAnswering, now } = situation;
  const isLost = trouble?.kind === "waiting" && now - trouble.since >= OFFLINE_GRACE_SECONDS;
  const found: [Banner, boolean][] = [
    ["foreign", trouble?.kind === "foreign"],
    ["offline", isLost],
    ["blocked", push === "blocked"],
    ["evictable", isEvictable && !isAnswering],
    ["outdated", isOutdated],
  ];
  return found.filter(([, applies]) => applies).map(([banner]) => banner);
}
