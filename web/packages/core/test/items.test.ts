import { beforeEach, expect, test } from "vitest";
import { isOver, LIFECYCLE, MemoryStore, type Phase, phaseAt, type Question } from "../src/index.ts";
import { closedOf, deviceOf, FakeServer, noteOf, questionOf } from "./fake-server.ts";

const NOW = 1_754_800_010;
const ANSWER = { id: "int_1", choiceIndex: 0, answeredAt: NOW, signature: "" };
let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore(deviceOf(new FakeServer()));
});

test("an id is taken in once, by whatever way it comes", async () => {
  expect(await store.takeIn([noteOf("msg_1"), noteOf("msg_1")], null, NOW)).toHaveLength(1);
  expect(await store.takeIn([noteOf("msg_1")], { seq: 3, isRewound: false }, NOW)).toEqual([]);
  expect(await store.items()).toHaveLength(1);
});

test("the same id under two types is two things", async () => {
  expect(await store.takeIn([questionOf("int_1"), closedOf("int_1", { status: "cancelled" })], null, NOW)).toHaveLength(
    3,
  );
});

test("a question can be tapped once", async () => {
  await store.takeIn([questionOf("int_1")], null, NOW);
  expect(await store.tap(ANSWER, NOW)).toMatchObject({ phase: "sending", tappedIndex: 0 });
  expect(await store.tap({ ...ANSWER, choiceIndex: 1 }, NOW)).toBeNull();
  expect(await store.queuedAnswers()).toEqual([ANSWER]);
});

test("what was said with a tap is kept with the question, and not with another try", async () => {
  await store.takeIn([questionOf("int_1")], null, NOW);
  const comment = { text: "Use staging", salt: "AA" };
  expect(await store.tap({ ...ANSWER, comment }, NOW)).toMatchObject({ comment: "Use staging" });
  await store.judge("int_1", { happening: "wrong_number", choiceIndex: null, by: null, triesLeft: 1 }, NOW);
  expect(await store.tap(ANSWER, NOW)).not.toHaveProperty("comment");
});

test("a question is over at the very second of its expiry and cannot be tapped any more", async () => {
  await store.takeIn([questionOf("int_1", NOW + 60)], null, NOW);
  const question = (await store.question("int_1")) as Question;
  expect(phaseAt(question, NOW + 59.9)).toBe("open");
  expect(phaseAt(question, NOW + 60)).toBe("expired");
  expect(await store.tap(ANSWER, NOW + 60)).toBeNull();
});

test("an answer on its way is not ended by time: the server may have taken it", async () => {
  await store.takeIn([questionOf("int_1", NOW + 60)], null, NOW);
  const tapped = (await store.tap(ANSWER, NOW)) as Question;
  expect(phaseAt(tapped, NOW + 3600)).toBe("sending");
});

test("an answer elsewhere withdraws the question and names the winner", async () => {
  await store.takeIn([questionOf("int_1")], null, NOW);
  await store.takeIn(
    [closedOf("int_1", { choice_index: 1, answered_by: "Tablet", answered_by_id: "dev_2" })],
    null,
    NOW,
  );
  expect(await store.question("int_1")).toMatchObject({ phase: "answered_elsewhere", choiceIndex: 1, by: "Tablet" });
});

test("an answer elsewhere that overtakes our own takes it off the queue and keeps what was tapped", async () => {
  await store.takeIn([questionOf("int_1")], null, NOW);
  await store.tap(ANSWER, NOW);
  await store.takeIn(
    [closedOf("int_1", { choice_index: 1, answered_by: "Tablet", answered_by_id: "dev_2" })],
    null,
    NOW,
  );
  expect(await store.question("int_1")).toMatchObject({ phase: "answered_elsewhere", tappedIndex: 0, choiceIndex: 1 });
  expect(await store.queuedAnswers()).toEqual([]);
});

test("the news that this device answered confirms its own tap", async () => {
  await store.takeIn([questionOf("int_1")], null, NOW);
  await store.tap(ANSWER, NOW);
  const news = closedOf("int_1", { choice_index: 0, answered_by: "Phone", answered_by_id: "dev_self" });
  await store.takeIn([news], null, NOW);
  expect(await store.question("int_1")).toMatchObject({ phase: "sent", choiceIndex: 0, by: null });
});

test("an end that overtakes its question is not forgotten", async () => {
  await store.takeIn([closedOf("int_1", { status: "cancelled" })], null, NOW);
  const changes = await store.takeIn([questionOf("int_1")], null, NOW);
  expect(changes).toMatchObject([{ what: "changed", item: { phase: "withdrawn", isAnnounced: true } }]);
});

test.each([
  ["past its end", [questionOf("int_1", NOW - 1)]],
  ["behind the word that it expired", [closedOf("int_1", { status: "expired" }), questionOf("int_1", NOW + 60)]],
] as const)(
  "a question that comes %s is missed: no sound is made of it, and it has yet to be seen",
  async (_how, envelopes) => {
    const changes = await store.takeIn(envelopes, null, NOW);
    const missed = { phase: "expired", isAnnounced: true, isRead: false };
    expect(changes.filter(({ item }) => item.type === "interaction")).toMatchObject([
      { what: "changed", item: missed },
    ]);
  },
);

test("nothing changes a question that was sent, withdrawn, refused or answered elsewhere", () => {
  const final: Phase[] = ["sent", "withdrawn", "refused", "answered_elsewhere"];
  for (const phase of final) {
    expect(LIFECYCLE[phase]).toEqual({});
    expect(isOver(phase)).toBe(true);
  }
});

test("exactly one caller announces an item", async () => {
  await store.takeIn([noteOf("msg_1")], null, NOW);
  const claims = await Promise.all([1, 2, 3].map(() => store.claimAnnouncement("notification:msg_1")));
  expect(claims.filter(Boolean)).toHaveLength(1);
});
