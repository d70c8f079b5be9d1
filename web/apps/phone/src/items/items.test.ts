import { expect, test } from "vitest";
import { emergencyOf, NOW, noteOf, questionOf } from "./items.testing.ts";
import { promptOf, resultPrompt, WHOLE_TEXT_MAX_CHARS } from "./notification.ts";
import { outcomeOf } from "./outcome.ts";

const TWO = 2;
const NONE = 0;

test("two choices become two buttons where the platform has two", () => {
  const prompt = promptOf(questionOf("Deploy?"), TWO);
  expect(prompt).toMatchObject({ title: "CI asks", options: { body: "Deploy?", tag: "interaction:int_1" } });
  expect(prompt?.options.actions).toEqual([
    { action: "choice-0", title: "Approve" },
    { action: "choice-1", title: "Deny" },
  ]);
});

test.each([
  ["the platform has no buttons", questionOf("Deploy?"), NONE],
  ["there are more choices than buttons", questionOf("When?", ["Now", "Later", "Never"]), TWO],
  ["the text could be cut", questionOf("x".repeat(WHOLE_TEXT_MAX_CHARS + 1)), TWO],
  ["the text has many lines", questionOf("a\nb\nc\nd"), TWO],
  ["the text hides something", questionOf("rm \u202etxt"), TWO],
])("no buttons where %s: the answer is given under the whole question", (_why, question, maxActions) => {
  expect(promptOf(question, maxActions)?.options.actions).toEqual([]);
});

test.each([
  ["it is dangerous", { danger: "high" }],
  ["it wants a long press", { confirm: "hold" }],
  ["it wants a number", { confirm: "number" }],
  ["there is something to read beside it", { details: [{ kind: "code", text: "rm -rf build" }] }],
  ["it brings what this app does not know", { details: [{ kind: "film" }] }],
] as const)("the first choice is no button where %s; the way to look and the refusal are", (_why, given) => {
  const question = questionOf("Run it?");
  const asked = { ...question, payload: { ...question.payload, given } };
  expect(promptOf(asked, TWO)?.options.actions).toEqual([
    { action: "look", title: "Look" },
    { action: "choice-1", title: "Deny" },
  ]);
});

test("a question with four choices says that there are four, and has no buttons", () => {
  const prompt = promptOf(questionOf("Which?", ["A", "B", "C", "D"]), 4);
  expect(prompt).toMatchObject({ title: "CI asks, 4 answers", options: { actions: [] } });
});

test("a question that is over makes no prompt", () => {
  expect(promptOf(questionOf("Deploy?", undefined, { phase: "sent" }), TWO)).toBeNull();
});

test("low priorities are silent, urgent ones stay until they are seen", () => {
  expect(promptOf(noteOf({ priority: "low" }), TWO)?.options).toMatchObject({ silent: true, renotify: false });
  expect(promptOf(noteOf({ priority: "default" }), TWO)?.options).toMatchObject({ silent: false, renotify: true });
  expect(promptOf(noteOf({ priority: "urgent" }), TWO)?.options).toMatchObject({ requireInteraction: true });
});

test("a result replaces its question quietly", () => {
  const prompt = resultPrompt(questionOf("Deploy?", undefined, { phase: "sent", choiceIndex: 0 }), true);
  expect(prompt?.title).toBe("Approve · sent");
  expect(prompt?.options).toMatchObject({ tag: "interaction:int_1", silent: true, renotify: false, actions: [] });
});

test.each([
  [{ phase: "open" }, null],
  [{ phase: "sending", tappedIndex: 0 }, "Approve · sending…"],
  [{ phase: "sent", tappedIndex: 1, choiceIndex: 1 }, "Deny · sent"],
  [{ phase: "answered_elsewhere", choiceIndex: 1, by: "Tablet" }, "Answered on Tablet: Deny"],
  [
    { phase: "answered_elsewhere", tappedIndex: 0, choiceIndex: 1, by: "Tablet" },
    "Too late · Answered on Tablet: Deny",
  ],
  [{ phase: "withdrawn" }, "Withdrawn by the asker"],
  [{ phase: "withdrawn", tappedIndex: 0 }, "Too late · Withdrawn by the asker"],
  [{ phase: "withdrawn", reason: "withdrawn" }, "Withdrawn by the asker"],
  [{ phase: "withdrawn", reason: "dismissed" }, "Refused"],
  [{ phase: "withdrawn", reason: "wrong_number", tappedIndex: 0 }, "Too late · Ended: the number was wrong twice"],
  [{ phase: "withdrawn", reason: "what a newer server says" }, "Withdrawn by the asker"],
  [{ phase: "expired" }, "Expired"],
  [{ phase: "expired", tappedIndex: 0 }, "Too late · Expired"],
  [{ phase: "refused", tappedIndex: 0 }, "Not recorded: the server no longer has this question"],
] as const)("%j is told as %j", (changes, text) => {
  expect(outcomeOf(questionOf("Deploy?", undefined, changes), true)?.text ?? null).toBe(text);
});

test("without a connection an answer on its way says that it is kept; other labels are repeated as they are", () => {
  const question = questionOf("When?", ["Now", "Later"], { phase: "sending", tappedIndex: 1 });
  expect(outcomeOf(question, false)?.text).toBe("Later · kept, and sent later");
});

test("an emergency can be acknowledged from its notification, and says all it has without markup", () => {
  const prompt = promptOf(emergencyOf(60, NOW + 600), TWO);
  expect(prompt).toMatchObject({ title: "Emergency: Monitoring", options: { body: "Disk is full\nWrites fail" } });
  expect(prompt?.options).toMatchObject({ requireInteraction: true, renotify: true, silent: false });
  expect(prompt?.options.actions).toEqual([{ action: "end", title: "Acknowledge" }]);
  const html = noteOf({ html: true, message: "<b>a</b> &amp; <u>b</u>", sound: "none" });
  expect(promptOf(html, TWO)?.options).toMatchObject({ body: "a & b", silent: true });
});
