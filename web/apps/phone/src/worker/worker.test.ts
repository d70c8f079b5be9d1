import { expect, test } from "vitest";
import { emergencyOf, itemOf, NOW, noteOf, questionOf, ringOf } from "../items/items.testing.ts";
import { pushMessageOf } from "../platform/push.ts";
import { fetchPlanOf, isOwnFile } from "./caching.ts";
import { announcementOf, clickOf, endingOf, pathOf } from "./deciding.ts";

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

test("a ring is stopped, and an emergency acknowledged, from its notification", () => {
  expect(clickOf("end", ringOf(30, 0))).toEqual({ does: "end", key: "ring:msg_9" });
  expect(pathOf(ringOf(30, 0))).toBe("/");
  expect(clickOf("end", emergencyOf(60, NOW + 600))).toEqual({ does: "end", key: "emergency:msg_8" });
  const payload = { token_id: "tok_1", by: "Tablet", by_id: "dev_2", muted_until: null };
  const change = itemOf({ type: "token.changed", id: "msg_c", ts: NOW, source: {}, payload });
  expect(clickOf("unmute", change)).toEqual({ does: "unmute", tokenId: "tok_1" });
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
