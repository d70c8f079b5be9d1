/** Who is who among senders, and what an entry of the queue says was changed of one. Pure. */

import { type Item, isOver, type NoteOf, type Source, visibleText } from "@reflecto/core";
import { dayOf, timeOf } from "../i18n/dates.ts";
import { t } from "../i18n/index.ts";
import { sourceName } from "./outcome.ts";

/** By the token's id, whatever its name is by now; by the name where a server gave no id. */
export function isSameSender(a: Source, b: Source): boolean {
  if (a.token_id !== undefined && b.token_id !== undefined) return a.token_id === b.token_id;
  return a.token === b.token && a.server === b.server;
}

/** No question of its sender came before it, as far as this phone remembers. */
export function isFirstQuestion(item: Item, items: readonly Item[]): boolean {
  const isEarlier = (other: Item) =>
    other.type === "interaction" &&
    other.key !== item.key &&
    (other.ts < item.ts || other.receivedAt < item.receivedAt || isOver(other.phase));
  return !items.some((other) => isEarlier(other) && isSameSender(other.source, item.source));
}

/** The time today; with its day otherwise. `ts` is Unix seconds. */
export function untilWords(ts: number, now: number): string {
  const day = dayOf(ts, now);
  return day === t("day.today") ? timeOf(ts) : `${day}, ${timeOf(ts)}`;
}

/** What another phone of the owner has changed, one sentence for each thing. */
export function changeWords({ payload, source, ts }: NoteOf<"token.changed">): string[] {
  const name = sourceName(source);
  const { label, colour, muted_until: until } = payload;
  const words: string[] = [];
  if (typeof until === "number") words.push(t("sender.muted_until", { name, time: untilWords(until, ts) }));
  if (until === "forever") words.push(t("sender.muted", { name }));
  if (until === null) words.push(t("sender.unmuted", { name }));
  if (label !== undefined) words.push(t("sender.renamed", { name, label: visibleText(label, { keepLines: false }) }));
  if (colour !== undefined) words.push(t("sender.coloured", { name }));
  return words;
}
