import { expect, test } from "vitest";
import { itemOf, NOW, noteOf, questionOf } from "../items/items.testing.ts";
import { suggestedLabel, tidyCode } from "./enrol.ts";
import { inbox, openQuestions, questions, unreadCount } from "./lists.ts";
import { hrefOf, routeOf } from "./route.ts";

test("questions keep the order in which they were asked, whatever happens to them", () => {
  const first = { ...questionOf("First?"), id: "int_a", key: "interaction:int_a", ts: 1, phase: "sent" as const };
  const second = { ...questionOf("Second?"), id: "int_b", key: "interaction:int_b", ts: 2 };
  expect(questions([second, first], NOW).map(({ id }) => id)).toEqual(["int_a", "int_b"]);
});

test("a question is open until its time is over", () => {
  const question = questionOf("Deploy?");
  expect(openQuestions([question], NOW + 599)).toHaveLength(1);
  expect(openQuestions([question], NOW + 600)).toEqual([]);
});

test("the inbox has neither questions nor their ends, nor tokens that were erased", () => {
  const payload = { id: "tok_1", label: "Default", token: "" };
  const erased = itemOf({ type: "token.created", id: "tok_1", ts: 1, source: {}, payload });
  expect(inbox([questionOf("Deploy?"), erased, noteOf({})], NOW).map(({ type }) => type)).toEqual(["notification"]);
  expect(unreadCount([noteOf({}), { ...noteOf({}, "msg_2"), isRead: true }], NOW)).toBe(1);
});

test("a message that is to be gone at a time is gone then", () => {
  const note = noteOf({ delete_at: NOW + 60 });
  expect(inbox([note], NOW + 59)).toHaveLength(1);
  expect(inbox([note], NOW + 60)).toEqual([]);
});

test("a route is a tab and a part of it; what is unknown is the questions", () => {
  expect(routeOf("#/questions/int_1")).toEqual({ tab: "questions", part: "int_1" });
  expect(routeOf(hrefOf("settings", "tokens"))).toEqual({ tab: "settings", part: "tokens" });
  expect(routeOf("#/constructor")).toEqual({ tab: "questions", part: null });
  expect(routeOf("")).toEqual({ tab: "questions", part: null });
});

test("a code is read out of whatever was typed or pasted", () => {
  expect(tidyCode("08e7 q8bm vag8 5z4j")).toBe("08E7-Q8BM-VAG8-5Z4J");
  expect(tidyCode("https://r.example/enroll#08E7-Q8BM-VAG8-5Z4J")).toBe("08E7-Q8BM-VAG8-5Z4J");
  expect(tidyCode("O8E7Q8BMVAG8IL4J99")).toBe("08E7-Q8BM-VAG8-114J");
  expect(tidyCode("08e")).toBe("08E");
});

test("a phone is named after what it is", () => {
  expect(suggestedLabel("Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140 Mobile")).toBe("Android phone");
  expect(suggestedLabel("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)")).toBe("iPhone");
  expect(suggestedLabel("curl")).toBe("My phone");
});
