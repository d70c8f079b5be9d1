import type { Question } from "@reflecto/core";
import { expect, test } from "vitest";
import { NOW, questionOf } from "../items/items.testing.ts";
import { memoryOf, recentlyOver, waitingQuestions } from "./sitting.ts";

const AGENT = { token: "Agent", token_id: "tok_1" };

function asked(id: string, changes: Partial<Question> = {}, question = "Run this command?", code?: string): Question {
  const made = questionOf(question, ["Allow", "Deny"], { id, key: `interaction:${id}`, source: AGENT, ...changes });
  const given = { details: [{ kind: "code", text: code ?? "" }] };
  return code === undefined ? made : { ...made, payload: { ...made.payload, given } };
}

test("those that wait come in the order of their ends, whatever came first", () => {
  const soon = asked("soon", {});
  const [late, over] = [asked("late"), asked("over", { phase: "sent" })];
  late.payload = { ...late.payload, expires_at: NOW + 900 };
  expect(waitingQuestions([late, over, soon], NOW).map(({ id }) => id)).toEqual(["soon", "late"]);
});

test("what is over stays a line for ten minutes; an answer on its way is the first of them", () => {
  const old = asked("old", { phase: "sent", endedAt: NOW - 600 });
  const one = asked("one", { phase: "expired", endedAt: NOW - 599 });
  const two = asked("two", { phase: "sent", endedAt: NOW - 5 });
  const leaving = asked("leaving", { phase: "sending", tappedIndex: 0 });
  expect(recentlyOver([old, one, two, asked("open"), leaving], NOW).map(({ id }) => id)).toEqual([
    "leaving",
    "two",
    "one",
  ]);
});

test("a sender's first question is known as that; a renamed sender is the same one", () => {
  const first = asked("first");
  expect(memoryOf([first], first, NOW)).toMatchObject({ isFirst: true, today: 1, open: 1 });
  const renamed = asked("second", { ts: NOW + 1, source: { token: "Claude", token_id: "tok_1" } });
  expect(memoryOf([first, renamed], renamed, NOW)).toMatchObject({ isFirst: false, today: 2, asked: 2, open: 2 });
  expect(memoryOf([first, renamed], first, NOW)).toMatchObject({ isFirst: true, today: 1, asked: 2 });
  const other = asked("third", { ts: NOW + 1, source: { token: "Agent", token_id: "tok_2" } });
  expect(memoryOf([first, other], other, NOW)).toMatchObject({ isFirst: true, today: 1, open: 1 });
});

test("the last answer to the same words is remembered, to other words not", () => {
  const before = asked("before", { phase: "sent", choiceIndex: 0, endedAt: NOW - 3600, ts: NOW - 3700 });
  const same = asked("same");
  expect(memoryOf([before, same], same, NOW).last).toEqual({ label: "Allow", at: NOW - 3600 });
  const other = asked("other", {}, "Delete everything?");
  expect(memoryOf([before, other], other, NOW).last).toBeNull();
});

const REFUSED = { phase: "sent", choiceIndex: 1, ts: NOW - 60 } as const;

test.each([
  ["migrate --env staging --yes", "migrate --env production --yes", "staging"],
  ["migrate --yes --env staging", "migrate --yes", "--env staging"],
  ["migrate --yes", "migrate --yes --env staging", null],
  ["migrate --yes", "migrate --yes", null],
  ["rm -rf / --no-preserve-root now please", "ls", null],
])("refused as %j and asked as %j: the difference is %j", (before, now, difference) => {
  const refused = asked("before", { ...REFUSED, endedAt: NOW - 40 }, undefined, before);
  const again = asked("again", {}, undefined, now);
  expect(memoryOf([refused, again], again, NOW).refusal).toEqual({ label: "Deny", at: NOW - 40, difference });
});

test.each([
  ["ten minutes ago", { ...REFUSED, endedAt: NOW - 600 }],
  ["with the first choice", { ...REFUSED, choiceIndex: 0, endedAt: NOW - 40 }],
  ["without an answer", { phase: "expired", endedAt: NOW - 40, ts: NOW - 60 }],
] as const)("what ended %s is no refusal", (_when, changes) => {
  const again = asked("again");
  expect(memoryOf([asked("before", changes), again], again, NOW).refusal).toBeNull();
});
