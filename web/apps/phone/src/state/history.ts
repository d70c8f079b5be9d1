/** What is past: what became of it, how it is found, and what stands on one line. Pure. */

import { type Item, isOver, type Question, seenOf } from "@reflecto/core";
import { dayWords } from "../i18n/dates.ts";
import { type Key, t } from "../i18n/index.ts";
import { inbox, type NoteItem, questions } from "./lists.ts";
import { verdictOf } from "./verdict.ts";

/** What became of a question: the answer by its meaning where it has a known one, or how it ended without one. */
export type Fate = "approved" | "denied" | "other" | "missed" | "ended";

export type Filter = "all" | Fate | "messages" | "documents";

export const FILTERS: Readonly<Record<Filter, Key>> = {
  all: "history.filter.all",
  missed: "history.filter.missed",
  denied: "history.filter.denied",
  approved: "history.filter.approved",
  other: "history.filter.other",
  ended: "history.filter.ended",
  messages: "history.filter.messages",
  documents: "history.filter.documents",
};

type Past = Question | NoteItem;

/** One line of the history. The same question that a sender asked again and again, and nobody answered, is one. */
export interface Entry {
  /** The newest of them. */
  item: Past;
  /** All of them, the newest first. */
  all: readonly Past[];
}

/** Labels of which the second says no. */
const PAIRS: readonly (readonly [string, string])[] = [
  ["approve", "deny"],
  ["allow", "deny"],
  ["yes", "no"],
];

/** Of a question that is over. */
export function fateOf({ phase, payload, choiceIndex }: Question): Fate {
  if (phase === "expired") return "missed";
  if ((phase !== "sent" && phase !== "answered_elsewhere") || choiceIndex === null) return "ended";
  const [first, second] = payload.choices.map((label) => label.trim().toLowerCase());
  const isPair = PAIRS.some(([yes, no]) => yes === first && no === second);
  if (!isPair || choiceIndex > 1) return "other";
  return choiceIndex === 0 ? "approved" : "denied";
}

/** Missed questions that nobody has seen in the history yet. */
export function unseenMissed(items: readonly Item[], now: number): Question[] {
  return questions(items, now).filter((question) => question.phase === "expired" && !question.isRead);
}

/** What is past and `filter` and `search` leave, the newest first. Every word of the search has to be found. */
export function history(items: readonly Item[], now: number, filter: Filter, search: string): Entry[] {
  const ended = questions(items, now).filter((question) => isOver(question.phase));
  const words = folded(search).split(" ").filter(Boolean);
  const found = [...ended, ...inbox(items, now)]
    .filter((item) => filter === "all" || kindOf(item) === filter)
    .filter((item) => words.length === 0 || holds(searchedOf(item, now), words))
    .sort((a, b) => b.ts - a.ts);
  return gathered(found);
}

function kindOf(item: Past): Filter {
  if (item.type === "interaction") return fateOf(item);
  return item.type === "document" ? "documents" : "messages";
}

function gathered(items: readonly Past[]): Entry[] {
  const entries = new Map<string, { item: Past; all: Past[] }>();
  for (const item of items) {
    const isMissed = item.type === "interaction" && item.phase === "expired";
    const name = isMissed ? JSON.stringify([item.source, item.payload.question, item.payload.choices]) : item.key;
    const entry = entries.get(name);
    if (entry) entry.all.push(item);
    else entries.set(name, { item, all: [item] });
  }
  return [...entries.values()];
}

function holds(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

/** What a search looks through: words and sender, what became of it, and its day in several forms. */
function searchedOf(item: Past, now: number): string {
  const fate = item.type === "interaction" ? [t(FILTERS[fateOf(item)]), ...verdictOf(item, [])] : [];
  return folded([textOf(item), ...fate, ...dayWords(item.ts, now)].join("\n"));
}

/** A token's plaintext; and of the choices only the one that was chosen is looked for, which the verdict says. */
const UNSEARCHED: ReadonlySet<string> = new Set(["token", "choices"]);

function textOf(item: Past): string {
  const from = item.source.token ?? item.source.server ?? "";
  const texts = Object.entries(item.payload).flatMap(([name, value]) => (UNSEARCHED.has(name) ? [] : stringsOf(value)));
  const comment = (item.type === "interaction" && item.comment) || "";
  return [from, comment, ...texts].join("\n");
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

/** Alike for a search: in small letters, without accents and what cannot be seen. */
function folded(text: string): string {
  return seenOf(text)
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLocaleLowerCase();
}
