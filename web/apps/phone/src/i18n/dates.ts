/** Times as the chosen language writes them. */

import { spokenLocale, t } from "./index.ts";

/** The time of day. `ts` is Unix seconds. */
export function timeOf(ts: number): string {
  return new Date(ts * 1000).toLocaleTimeString(spokenLocale(), { hour: "2-digit", minute: "2-digit" });
}

/** A heading over what happened on one day. */
export function dayOf(ts: number, now: number): string {
  const age = daysBetween(ts, now);
  if (age === 0) return t("day.today");
  if (age === 1) return t("day.yesterday");
  const isThisYear = new Date(ts * 1000).getFullYear() === new Date(now * 1000).getFullYear();
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  return formatted(ts, { weekday: "long", day: "numeric", month: "long", ...year });
}

/** Day and time in full. */
export function momentOf(ts: number): string {
  return formatted(ts, { dateStyle: "full", timeStyle: "short" });
}

/** A day in the forms people search for it. */
export function dayWords(ts: number, now: number): string[] {
  const date = new Date(ts * 1000);
  const iso = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  const relative = [t("day.today"), t("day.yesterday")][daysBetween(ts, now)] ?? "";
  return [iso.join("-"), formatted(ts, { dateStyle: "full" }), formatted(ts, { dateStyle: "short" }), relative];
}

/** A span in its largest unit: 45 s, 10 min, 3 h, 2 d. */
export function spanOf(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["second", 1];
  const count = Math.max(0, Math.round(seconds / size));
  return new Intl.NumberFormat(spokenLocale(), { style: "unit", unit, unitDisplay: "short" }).format(count);
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** Calendar days from `ts` to `now`, where a day is the person's. */
function daysBetween(ts: number, now: number): number {
  const midnight = (seconds: number) => new Date(seconds * 1000).setHours(0, 0, 0, 0);
  return Math.round((midnight(now) - midnight(ts)) / 86_400_000);
}

function formatted(ts: number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(spokenLocale(), options).format(new Date(ts * 1000));
}
