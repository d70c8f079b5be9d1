/** Rings and emergencies: when each sounds, what ends it, and what the server still has to hear of that. Pure. */

import type { Envelope } from "./envelope.ts";
import type { Alarm, AlarmLife, AlarmOutcome, Item, NoteOf } from "./records.ts";

/** How long each round of an emergency sounds; then there is quiet to read and to think, until the next. */
export const ROUND_SECONDS = 20;

export const NEW_ALARM: AlarmLife = { state: "on", outcome: null, by: null, isSilenced: false };

export function isAlarm(item: Item): item is Alarm {
  return item.type === "ring" || item.type === "emergency";
}

/** Its life at this instant: time ends it by comparison, not by a timer that may not have run. */
export function lifeOf(alarm: Alarm, now: number): AlarmLife {
  // A ring that was kept before there were lives was ended by being read.
  const life = alarm.alarm ?? { ...NEW_ALARM, isSilenced: alarm.isRead };
  const isOverdue = life.state === "on" && now >= endOf(alarm);
  return isOverdue ? { ...life, state: "over", outcome: alarm.type === "emergency" ? "expired" : null } : life;
}

/** Unix seconds. A ring sounds from when it came, but never late. */
export function endOf(alarm: Alarm): number {
  if (alarm.type === "emergency") return alarm.payload.expires_at;
  return alarm.receivedAt > alarm.payload.expires_at ? 0 : alarm.receivedAt + alarm.payload.duration;
}

/** It wants a person: it is shown above everything. */
export function isDemanding(alarm: Alarm, now: number): boolean {
  const { state, isSilenced } = lifeOf(alarm, now);
  return state === "on" && !isSilenced;
}

/** It sounds right now. An emergency does at the start of each round. */
export function isLoud(alarm: Alarm, now: number): boolean {
  if (!isDemanding(alarm, now)) return false;
  return alarm.type === "ring" || Math.max(0, now - alarm.ts) % alarm.payload.retry < ROUND_SECONDS;
}

/** The how-manieth time an emergency sounds, from 1. */
export function roundOf(emergency: NoteOf<"emergency">, now: number): number {
  return Math.floor(Math.max(0, now - emergency.ts) / emergency.payload.retry) + 1;
}

/** What is shown above everything: an emergency before any ring, then what came first. */
export function foremostAlarm(items: readonly Item[], now: number): Alarm | null {
  const demanding = items.filter(isAlarm).filter((alarm) => isDemanding(alarm, now));
  const rank = (alarm: Alarm) => (alarm.type === "emergency" ? 0 : 1);
  return demanding.sort((a, b) => rank(a) - rank(b) || a.ts - b.ts || (a.id < b.id ? -1 : 1))[0] ?? null;
}

/** Ended by a hand here. The server hears of it as soon as it can be reached. */
export function endedHere(life: AlarmLife, outcome: AlarmOutcome): AlarmLife | null {
  return life.state === "on" ? { ...life, state: "ending", outcome } : null;
}

/** The alarm after the envelope that ends it; the same object where nothing changes. */
export function closeAlarm(alarm: Alarm, closing: Envelope | Item, now: number): Alarm {
  const life = lifeOf(alarm, now);
  if (life.state === "over") return alarm;
  if (closing.type === "ring.stopped") return withLife(alarm, over(life, "stopped", closing.payload.by));
  if (closing.type !== "emergency.closed") return alarm;
  return withLife(alarm, over(life, closing.payload.status, closing.payload.by));
}

/** The server knows it is over; `outcome` where it ended otherwise than by a hand here. */
export function over(
  life: AlarmLife,
  outcome: AlarmOutcome | null = life.outcome,
  by: string | null = null,
): AlarmLife {
  return { ...life, state: "over", outcome, by };
}

export function withLife<Of extends Alarm>(alarm: Of, life: AlarmLife): Of {
  return { ...alarm, alarm: life, isRead: alarm.isRead || life.state !== "on" };
}

/** A further round of one that is kept; null for the same round by another way, or where nobody needs to hear it. */
export function nextRound(alarm: Item, now: number): Item | null {
  if (alarm.type !== "emergency" || !isDemanding(alarm, now)) return null;
  const isSameRound = now - (alarm.lastRoundAt ?? alarm.receivedAt) < alarm.payload.retry / 2;
  return isSameRound ? null : { ...alarm, lastRoundAt: now };
}
