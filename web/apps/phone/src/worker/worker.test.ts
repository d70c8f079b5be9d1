import { expect, test } from "vitest";
import { pushMessageOf } from "../platform/push.ts";
import { fetchPlanOf, isOwnFile } from "./caching.ts";
import { emergencyOf, NOW, noteOf, questionOf, ringOf } from "./items.testing.ts";
import {
  announcementOf,
  clickOf,
  endingOf,
  pathOf,
  promptOf,
  resultPrompt,
  WHOLE_TEXT_MAX_CHARS,
} from "./notification.ts";
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
  expect(prompt?.title).toBe("Approved · sent");
  expect(prompt?.options).toMatchObject({ tag: "interaction:int_1", silent: true, renotify: false, actions: [] });
});

test.each([
  [{ phase: "open" }, null],
  [{ phase: "sending", tappedIndex: 0 }, "Approve · sending…"],
  [{ phase: "sent", tappedIndex: 1, choiceIndex: 1 }, "Denied · sent"],
  [{ phase: "answered_elsewhere", choiceIndex: 1, by: "Tablet" }, "Answered on Tablet: Deny"],
  [{ phase: "answered_elsewhere", tappedIndex: 0, choiceIndex: 1, by: "Tablet" }, "Too late: answered on Tablet: Deny"],
  [{ phase: "withdrawn" }, "Withdrawn by the asker"],
  [{ phase: "withdrawn", tappedIndex: 0 }, "Too late: withdrawn by the asker"],
  [{ phase: "expired" }, "Expired"],
  [{ phase: "expired", tappedIndex: 0 }, "Too late: expired"],
  [{ phase: "refused", tappedIndex: 0 }, "Not recorded: the server no longer has this question"],
] as const)("%j is told as %j", (changes, text) => {
  expect(outcomeOf(questionOf("Deploy?", undefined, changes), true)?.text ?? null).toBe(text);
});

test("without a connection an answer on its way says that it is kept; other labels are repeated as they are", () => {
  const question = questionOf("When?", ["Now", "Later"], { phase: "sending", tappedIndex: 1 });
  expect(outcomeOf(question, false)?.text).toBe("Later · kept, and sent later");
});

test("who is first shows it; who is not, or is looked at already, does not", () => {
  const quiet = { mustShow: false };
  expect(announcementOf({ isFirst: true, isPageVisible: false, ...quiet })).toBe("show");
  expect(announcementOf({ isFirst: true, isPageVisible: true, ...quiet })).toBe("nothing");
  expect(announcementOf({ isFirst: false, isPageVisible: false, ...quiet })).toBe("nothing");
});

test("where a push must show something, it repeats itself quietly", () => {
  expect(announcementOf({ isFirst: false, isPageVisible: false, mustShow: true })).toBe("repeat-quietly");
  expect(announcementOf({ isFirst: true, isPageVisible: true, mustShow: true })).toBe("repeat-quietly");
  expect(endingOf({ isOnScreen: false, wasTappedHere: false, mustShow: true })).toBe("repeat-quietly");
});

test("a question that ended elsewhere disappears; one tapped here shows what became of the tap", () => {
  expect(endingOf({ isOnScreen: true, wasTappedHere: false, mustShow: false })).toBe("nothing");
  expect(endingOf({ isOnScreen: true, wasTappedHere: true, mustShow: false })).toBe("repeat-quietly");
});

test("a tap on a button answers with its choice, a tap beside it opens the question", () => {
  const question = questionOf("Deploy?");
  expect(clickOf("choice-1", question)).toEqual({ does: "answer", id: "int_1", choiceIndex: 1 });
  expect(clickOf("", question)).toEqual({ does: "open", path: "/#/questions/int_1" });
});

test("a button of something that is no question any more only opens the app", () => {
  expect(clickOf("choice-1", null)).toEqual({ does: "open", path: "/" });
  expect(clickOf("choice-1", noteOf({}))).toEqual({ does: "open", path: "/#/inbox/msg_1" });
  expect(clickOf("end", questionOf("Deploy?"))).toMatchObject({ does: "open" });
});

test("a ring is stopped from its notification, or opened", () => {
  expect(clickOf("end", ringOf(30, 0))).toEqual({ does: "end", key: "ring:msg_9" });
  expect(pathOf(ringOf(30, 0))).toBe("/");
});

test("a push with its blob is taken, anything else is a wake-up", () => {
  expect(pushMessageOf('{"seq":7,"blob":"AQ=="}')).toEqual({ does: "take", seq: 7, blob: "AQ==" });
  for (const other of ['{"seq":7}', "", "not JSON", "null", "[]", null]) {
    expect(pushMessageOf(other)).toEqual({ does: "fetch" });
  }
});

const ORIGIN = "https://r.example";
const get = { method: "GET", mode: "cors" };

test.each([
  ["the page", { ...get, mode: "navigate", url: `${ORIGIN}/` }, "page"],
  ["the enrolment page", { ...get, mode: "navigate", url: `${ORIGIN}/enroll#X` }, "page"],
  ["the pairing page", { ...get, mode: "navigate", url: `${ORIGIN}/pair#X` }, "page"],
  ["another page of the server", { ...get, mode: "navigate", url: `${ORIGIN}/docs` }, "network"],
  ["an asset", { ...get, url: `${ORIGIN}/assets/a-1.js` }, "cached"],
  ["the API", { ...get, url: `${ORIGIN}/v1/sync?after=0` }, "network"],
  ["a writing call", { method: "POST", mode: "cors", url: `${ORIGIN}/` }, "network"],
  ["another origin", { ...get, url: "https://other.example/assets/a.js" }, "network"],
] as const)("%s comes from where it should", (_what, request, plan) => {
  expect(fetchPlanOf(request, `${ORIGIN}/`)).toBe(plan);
});

test.each([
  ["the page", { ...get, mode: "navigate", url: `${ORIGIN}/reflecto/` }, "page"],
  ["the enrolment page", { ...get, mode: "navigate", url: `${ORIGIN}/reflecto/enroll#X` }, "page"],
  ["an asset", { ...get, url: `${ORIGIN}/reflecto/assets/a-1.js` }, "cached"],
  ["the manifest", { ...get, url: `${ORIGIN}/reflecto/manifest.webmanifest` }, "cached"],
  ["the API", { ...get, url: `${ORIGIN}/reflecto/v1/sync?after=0` }, "network"],
  ["a page of another folder", { ...get, mode: "navigate", url: `${ORIGIN}/` }, "network"],
  ["another folder's asset", { ...get, url: `${ORIGIN}/assets/a-1.js` }, "network"],
] as const)("under a path %s comes from where it should", (_what, request, plan) => {
  expect(fetchPlanOf(request, `${ORIGIN}/reflecto/`)).toBe(plan);
});

const SHELL = ["/", "/assets/index-1.js", "/assets/index-1.css", "/icons/icon-192.png", "/manifest.webmanifest"];

test.each(SHELL)("a sign-in page in the place of %s is not kept as the app", (path) => {
  expect(isOwnFile(path, "text/html; charset=utf-8", "<html>Sign in</html>", SHELL)).toBe(false);
});

test.each([
  ["/", "text/html; charset=utf-8", '<script src="./assets/index-1.js">'],
  ["/assets/index-1.js", "text/javascript; charset=utf-8", ""],
  ["/assets/index-1.css", "text/css; charset=utf-8", ""],
  ["/icons/icon-192.png", "image/png", ""],
  ["/manifest.webmanifest", "application/manifest+json", ""],
])("the server's own %s is", (path, type, body) => {
  expect(isOwnFile(path, type, body, SHELL)).toBe(true);
});

test("an emergency can be acknowledged from its notification, and says all it has without markup", () => {
  const prompt = promptOf(emergencyOf(60, NOW + 600), TWO);
  expect(prompt).toMatchObject({ title: "Emergency: Monitoring", options: { body: "Disk is full\nWrites fail" } });
  expect(prompt?.options).toMatchObject({ requireInteraction: true, renotify: true, silent: false });
  expect(prompt?.options.actions).toEqual([{ action: "end", title: "Acknowledge" }]);
  expect(clickOf("end", emergencyOf(60, NOW + 600))).toEqual({ does: "end", key: "emergency:msg_8" });
  const html = noteOf({ html: true, message: "<b>a</b> &amp; <u>b</u>", sound: "none" });
  expect(promptOf(html, TWO)?.options).toMatchObject({ body: "a & b", silent: true });
});
