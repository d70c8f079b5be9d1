/** Rings that were stopped and emergencies that were acknowledged here: sent until the server has heard of them. */

import { endOf, isAlarm, lifeOf, over } from "./alarms.ts";
import type { Api } from "./api.ts";
import type { Alarm, AlarmLife, AlarmOutcome, Item } from "./records.ts";
import { RefusedError } from "./refusals.ts";

/** Those the server has not heard of, oldest first. */
export function endingAlarms(items: readonly Item[], now: number): Alarm[] {
  const ending = items.filter(isAlarm).filter((alarm) => lifeOf(alarm, now).state === "ending");
  return ending.sort((a, b) => a.ts - b.ts);
}

/**
 * Tells the server, and returns the alarm's life after its word. Throws what `isPassing` or is an outage: try again.
 * A ring whose time is over is silent everywhere, so nobody need hear of it.
 */
export async function sendEnding(api: Api, alarm: Alarm, now: number): Promise<AlarmLife> {
  const life = lifeOf(alarm, now);
  if (alarm.type === "ring" && now >= endOf(alarm)) return over(life);
  try {
    if (alarm.type === "ring") await api.stopRing(alarm.id);
    else await api.acknowledgeEmergency(alarm.payload.receipt);
    return over(life);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.isPassing || error.isRevocation) throw error;
    const { status } = error.details;
    return over(life, isOutcome(status) ? status : life.outcome);
  }
}

function isOutcome(value: unknown): value is AlarmOutcome {
  return typeof value === "string" && ["acknowledged", "cancelled", "expired"].includes(value);
}
