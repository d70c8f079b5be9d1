import type { Question } from "@reflecto/core";
import compile from "icu-minify/compile";
import { afterEach, expect, test } from "vitest";
import en from "../i18n/en.json";
import { speak } from "../i18n/index.ts";
import { LANGUAGES, type Language } from "../i18n/languages.ts";
import { itemOf, NOW, noteOf, questionOf } from "../items/items.testing.ts";
import { type Filter, fateOf, history, unseenMissed } from "./history.ts";
import { verdictOf } from "./verdict.ts";

const files = import.meta.glob<Record<string, string>>("../i18n/*.json", { eager: true, import: "default" });

afterEach(() => speak("en", Object.fromEntries(Object.entries(en).map(([key, text]) => [key, compile(text)]))));

const DAY = 86_400;
const YES_NO = ["Yes", "No"];

function answered(question: string, choices: string[], choiceIndex: number, changes: Partial<Question> = {}): Question {
  return named(question, { phase: "sent", choiceIndex, tappedIndex: choiceIndex, ...changes }, choices);
}

function named(question: string, changes: Partial<Question>, choices?: string[]): Question {
  return { ...questionOf(question, choices), id: question, key: `interaction:${question}`, ...changes };
}

const found = (items: Parameters<typeof history>[0], search: string, filter: Filter = "all") =>
  history(items, NOW, filter, search).map(({ item }) => item.id);

test("a question is past from the second of its expiry on", () => {
  const question = questionOf("Deploy?");
  expect(history([question], NOW + 599, "all", "")).toEqual([]);
  expect(history([question], NOW + 600, "all", "")).toHaveLength(1);
});

test.each([
  [["Approve", "Deny"]],
  [["Allow", "Deny"]],
  [YES_NO],
  [["allow", "deny", "Allow, and don't ask again for npm test"]],
])("“denied” finds the second of %j, and only that", (choices) => {
  const items = [answered("a", choices, 0), answered("b", choices, 1)];
  expect(found(items, "denied")).toEqual(["b"]);
  expect(found(items, "Approved")).toEqual(["a"]);
  expect(found(items, "", "denied")).toEqual(["b"]);
});

test.each(Object.keys(LANGUAGES) as Language[])(
  "in %s its own word for it finds what was denied, and only that",
  (language) => {
    const words = files[`../i18n/${language}.json`] as Record<string, string>;
    speak(language, Object.fromEntries(Object.entries(words).map(([key, text]) => [key, compile(text)])));
    const items = [answered("a", YES_NO, 0), answered("b", YES_NO, 1), named("c", { phase: "expired" })];
    expect(found(items, words["history.filter.denied"] ?? "")).toEqual(["b"]);
  },
);

test("a label finds where it was chosen, not where it was only offered", () => {
  const items = [answered("a", ["Staging", "Production"], 0), answered("b", ["Staging", "Production"], 1)];
  expect(found(items, "production")).toEqual(["b"]);
});

test.each([
  ["dismissed", "Refused", ""],
  ["wrong_number", "Ended: the number was wrong twice", ""],
  ["abandoned", "Ended", "Nobody waits for the answer any more"],
  ["revoked", "Ended", "Its token was revoked"],
  ["withdrawn", "Withdrawn", "CI stopped asking"],
  [undefined, "Withdrawn", "CI stopped asking"],
])("a question that ended as %s says so, and is found by it", (reason, word, why) => {
  const ended = named("a", { phase: "withdrawn", ...(reason ? { reason } : {}) });
  expect(verdictOf(ended, [])).toEqual([word, why]);
  expect(found([ended, answered("b", YES_NO, 1)], why || word)).toEqual(["a"]);
});

test("what was said with a tap is found", () => {
  const items = [answered("a", YES_NO, 1, { comment: "Use the staging key" }), answered("b", YES_NO, 1)];
  expect(found(items, "staging")).toEqual(["a"]);
});

test("an answer that means neither yes nor no is an other one", () => {
  expect(fateOf(answered("a", ["Now", "Later"], 1))).toBe("other");
  expect(fateOf(answered("a", ["Allow", "Deny", "Allow, and don't ask again"], 2))).toBe("other");
  expect(fateOf(answered("a", YES_NO, 1, { phase: "answered_elsewhere", by: "Tablet" }))).toBe("denied");
});

test("what ended without an answer is missed where its time was over, and otherwise ended", () => {
  expect(fateOf(named("a", { phase: "expired" }))).toBe("missed");
  expect(fateOf(named("a", { phase: "withdrawn" }))).toBe("ended");
  expect(fateOf(named("a", { phase: "refused" }))).toBe("ended");
});

test("a day finds what was asked on it, in words or in digits", () => {
  const items = [answered("old", YES_NO, 0, { ts: NOW - 40 * DAY }), answered("new", YES_NO, 0, { ts: NOW })];
  const iso = new Date(NOW * 1000).toLocaleDateString("sv"); // 2025-08-10
  expect(found(items, iso)).toEqual(["new"]);
  expect(found(items, "today")).toEqual(["new"]);
  expect(found(items, "July")).toEqual(["old"]);
});

test("each word of a search has to be found: a sender, an answer and a word of the question together", () => {
  const items = [answered("Deploy build 7?", YES_NO, 1), answered("Drop table?", YES_NO, 1)];
  expect(found(items, "ci denied build")).toEqual(["Deploy build 7?"]);
});

test("a search needs neither accents nor capitals", () => {
  expect(found([noteOf({ message: "Résumé uploaded" })], "RESUME")).toEqual(["msg_1"]);
});

test("the search looks at who sent it and what it says, never at a token's plaintext", () => {
  const payload = { id: "tok_1", label: "Default", token: "rfk_live_secret" };
  const token = itemOf({ type: "token.created", id: "tok_1", ts: 1, source: {}, payload });
  const items = [noteOf({ message: "Sauna is warm" }), token];
  expect(found(items, " sauna ")).toEqual(["msg_1"]);
  expect(found(items, "ci")).toEqual(["msg_1"]);
  expect(found(items, "rfk_live")).toEqual([]);
});

test("the same question, asked again and again and missed each time, is one line", () => {
  const times = [NOW - 1800, NOW - 900, NOW];
  const items = times.map((ts, index) => ({
    ...questionOf("Migrate?", YES_NO, { phase: "expired" }),
    key: `interaction:${index}`,
    ts,
  }));
  const [entry, ...others] = history([...items, named("Other?", { phase: "expired", ts: 1 })], NOW, "missed", "");
  expect(entry?.all.map(({ ts }) => ts)).toEqual(times.toReversed());
  expect(others).toHaveLength(1);
});

test("equal questions that were answered stay apart", () => {
  const items = [1, 2].map((ts) => ({ ...answered("Migrate?", YES_NO, 0), key: `interaction:${ts}`, ts }));
  expect(history(items, NOW, "all", "")).toHaveLength(2);
});

test("a missed question is counted until it was seen", () => {
  const items = [named("a", { phase: "expired" }), named("b", { phase: "expired", isRead: true }), questionOf("open?")];
  expect(unseenMissed(items, NOW).map(({ id }) => id)).toEqual(["a"]);
  expect(unseenMissed(items, NOW + 600).map(({ id }) => id)).toEqual(["a", "int_1"]);
});
