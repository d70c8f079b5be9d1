/** Senders: in which order, and how long one can be muted for. Pure. */

import type { TokenState, UpdateTokenRequest } from "@reflecto/core";

export const MUTES = ["quarter", "hour", "tomorrow", "forever"] as const;
export type Mute = (typeof MUTES)[number];
export type MutedUntil = NonNullable<UpdateTokenRequest["muted_until"]>;

const MINUTE_SECONDS = 60;
/** A person who mutes until tomorrow wants the night as well. */
const MORNING_HOUR = 8;

/** `now` is Unix seconds; so is what comes back, but for `forever`. */
export function mutedUntil(mute: Mute, now: number): MutedUntil {
  switch (mute) {
    case "quarter":
      return Math.floor(now) + 15 * MINUTE_SECONDS;
    case "hour":
      return Math.floor(now) + 60 * MINUTE_SECONDS;
    case "tomorrow": {
      const morning = new Date(now * 1000);
      morning.setDate(morning.getDate() + 1);
      morning.setHours(MORNING_HOUR, 0, 0, 0);
      return morning.getTime() / 1000;
    }
    case "forever":
      return "forever";
  }
}

/** A time that has passed mutes nobody; a word is for good. */
export function isMuted(until: number | string | null, now: number): boolean {
  return typeof until === "number" ? until > now : until !== null;
}

/** Whoever sent last is on top, and keeps its place for as long as nobody sends. */
export function latestFirst(tokens: readonly TokenState[]): TokenState[] {
  const lastAt = ({ last_used_at, created_at }: TokenState) => last_used_at ?? created_at;
  return [...tokens].sort((a, b) => lastAt(b) - lastAt(a) || (a.id < b.id ? -1 : 1));
}
