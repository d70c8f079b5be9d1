import type { Item, Question } from "@reflecto/core";
import { expect, test } from "vitest";
import { emergencyOf, itemOf, NOW, noteOf, questionOf, ringOf } from "./items.testing.ts";
import { type Burst, type Prompt, promptOf, resultPrompt, WHOLE_TEXT_MAX_CHARS } from "./notification.ts";
import { outcomeOf } from "./outcome.ts";
import { isFirstQuestion } from "./senders.ts";

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
  expect(prompt).toMatchObject({ title: "Approve · sent", options: { body: "Deploy?" } });
  expect(prompt?.options).toMatchObject({ tag: "interaction:int_1", silent: true, renotify: false, actions: [] });
});

test("what nobody answered is told as missed, and what could not be sent says when it will be", () => {
  const missed = resultPrompt(questionOf("Deploy?", undefined, { phase: "expired" }), true);
  expect(missed).toMatchObject({ title: "Missed: CI", options: { body: "Deploy?" } });
  const kept = resultPrompt(questionOf("Deploy?", undefined, { phase: "sending", tappedIndex: 0 }), false);
  expect(kept?.title).toBe("Approve · kept, and sent later");
  expect(kept?.options.body).toBe("It is sent as soon as there is a connection.");
});

test("a sender's first question is looked at before its first choice can be tapped, and says that it is the first", () => {
  const first = promptOf(questionOf("Deploy?"), TWO, { isFirst: true, burst: null });
  expect(first?.title).toBe("CI asks, for the first time");
  expect(first?.options.actions.map(({ title }) => title)).toEqual(["Look", "Deny"]);
});

test("which question is the first is told by the token, whatever it is called, and by nothing that comes later", () => {
  const question = (id: string, token: string, token_id: string, ts = NOW) =>
    ({ ...questionOf("Deploy?"), key: `interaction:${id}`, id, ts, source: { token, token_id } }) as Question;
  const now = question("int_2", "CI", "tok_1");
  expect(isFirstQuestion(now, [now])).toBe(true);
  expect(isFirstQuestion(now, [now, question("int_1", "CI", "tok_2", NOW - 60)])).toBe(true);
  expect(isFirstQuestion(now, [now, question("int_3", "CI", "tok_1", NOW + 60)])).toBe(true);
  expect(isFirstQuestion(now, [now, question("int_1", "Old name", "tok_1", NOW - 60)])).toBe(false);
});

test("what goes with a question, and what it takes to answer, is said in words", () => {
  const question = questionOf("Run it?");
  const given = { danger: "high", confirm: "number", details: [{ kind: "code", text: "rm -rf build" }] };
  const prompt = promptOf({ ...question, payload: { ...question.payload, given } } as Question, TWO);
  expect(prompt?.title).toBe("CI asks: dangerous");
  expect(prompt?.options.body).toBe("Run it?\nThere is more to read with it.\nNeeds the two digits it shows.");
});

test("twenty messages of one sender are one notification, which counts them and sounds once", () => {
  let burst: Burst | null = null;
  const shown = Array.from({ length: 20 }, (_, index) => {
    const item = noteOf({ message: `Build ${index} is red` }, `msg_${index}`);
    const prompt = promptOf(item, TWO, { isFirst: false, burst });
    burst = prompt?.options.data.burst ?? null;
    return prompt as Prompt;
  });
  expect(new Set(shown.map(({ options }) => options.tag))).toEqual(new Set(["from:CI"]));
  expect(shown.filter(({ options }) => !options.silent)).toEqual([shown[0]]);
  expect(shown[0]).toMatchObject({ title: "CI", options: { body: "Build 0 is red" } });
  expect(shown[19]).toMatchObject({ title: "CI: 20 messages", options: { body: "Newest: Build 19 is red" } });
});

test("a minute later a burst may sound again; what is urgent has a notification of its own", () => {
  const before = { count: 4, soundedAt: NOW - 60 };
  expect(promptOf(noteOf({}), TWO, { isFirst: false, burst: before })?.options).toMatchObject({
    silent: false,
    data: { burst: { count: 5, soundedAt: NOW } },
  });
  const urgent = promptOf(noteOf({ priority: "urgent" }), TWO, { isFirst: false, burst: before });
  expect(urgent).toMatchObject({ title: "CI", options: { tag: "notification:msg_1", silent: false } });
});

test("a muted sender's message is silent, and its ring rings nobody", () => {
  const note = promptOf({ ...noteOf({ priority: "urgent" }), isMuted: true } as Item, TWO);
  expect(note?.options).toMatchObject({ silent: true, renotify: false, requireInteraction: false });
  const ring = promptOf({ ...ringOf(30, NOW + 60), isMuted: true }, TWO);
  expect(ring).toMatchObject({ title: "CI", options: { body: "Rang", silent: true, actions: [] } });
  expect(ring?.options).not.toHaveProperty("vibrate");
});

test("a name that runs the other way is kept in its place, and its marks are not shown; what a sender hides is", () => {
  const question = { ...questionOf("Deploy?"), source: { token: "דלת" } };
  expect(promptOf(question, TWO)?.title).toBe("\u2068דלת\u2069 asks");
  expect(promptOf(noteOf({ title: "a\u202eb", message: "c\u202ed" }), TWO)).toMatchObject({
    title: "a‹U+202E›b",
    options: { body: "c‹U+202E›d" },
  });
  const result = resultPrompt(questionOf("a\u202eb", undefined, { phase: "withdrawn" }), true);
  expect(result?.options.body).toBe("a‹U+202E›b");
});

test("who was muted on another phone, until when and by whom is told silently, with the way back", () => {
  const changed = (change: object) =>
    itemOf({
      type: "token.changed",
      id: "msg_5",
      ts: NOW,
      source: { token: "Codex", token_id: "tok_1" },
      payload: { token_id: "tok_1", by: "Pixel 9", by_id: "dev_2", ...change },
    });
  const muted = promptOf(changed({ muted_until: "forever" }), TWO);
  expect(muted).toMatchObject({ title: "Codex is muted", options: { body: "By Pixel 9.", silent: true } });
  expect(muted?.options.actions).toEqual([{ action: "unmute", title: "Unmute" }]);
  expect(promptOf(changed({ muted_until: null }), TWO)).toMatchObject({
    title: "Codex is no longer muted",
    options: { actions: [] },
  });
  expect(promptOf(changed({ colour: "rose" }), TWO)).toBeNull();
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
