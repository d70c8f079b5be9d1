import { beforeEach, expect, test } from "vitest";
import {
  AnswerQueue,
  answerMessage,
  type Bytes,
  fromBase64,
  MemoryStore,
  type Question,
  verifySignature,
} from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";
import { closedOf, DEVICE_KEYS, deviceOf, FakeServer, questionOf } from "./fake-server.ts";
import { FOREIGN_REPLIES } from "./foreign-replies.ts";

let server: FakeServer;
let clock: FakeClock;
let store: MemoryStore;
let queue: AnswerQueue;
let question: Question;

beforeEach(async () => {
  server = new FakeServer();
  clock = new FakeClock();
  store = new MemoryStore(deviceOf(server));
  queue = new AnswerQueue({ api: server.api, store, keys: DEVICE_KEYS, clock, onChanges: () => {} });
  await store.takeIn([questionOf("int_1")], null, clock.now());
  question = (await store.question("int_1")) as Question;
  server.reply = () => Response.json({ id: "int_1", status: "answered", choice_index: 0, answered_at: 1 });
});

test("a tap is signed over what was shown and sent", async () => {
  expect(await queue.tap(question, 0)).toBe(true);
  expect(await queue.flush()).toEqual({ state: "empty" });
  const [call] = server.calls;
  const body = call?.body as { choice_index: number; answered_at: number; signature: string };
  expect(call).toMatchObject({ method: "POST", path: "/v1/interactions/int_1/answer" });
  expect(body).toMatchObject({ choice_index: 0, answered_at: clock.now() });
  const message = await answerMessage({ id: "int_1", ...question.payload }, 0, body.answered_at);
  expect(verifySignature(DEVICE_KEYS.signingKey, message, fromBase64(body.signature) as Bytes)).toBe(true);
  expect(await store.question("int_1")).toMatchObject({ phase: "sent", choiceIndex: 0 });
  expect(await store.queuedAnswers()).toEqual([]);
});

test("a second tap is not taken", async () => {
  await queue.tap(question, 0);
  expect(await queue.tap(question, 1)).toBe(false);
  await queue.flush();
  expect(server.calls).toHaveLength(1);
});

test("offline, the answer waits with the time of its tap and is sent when the network is back", async () => {
  server.isDown = true;
  await queue.tap(question, 1);
  const tappedAt = clock.now();
  expect(await queue.flush()).toEqual({ state: "retry", retryAfterSeconds: 0, isForeign: false });
  expect(await store.question("int_1")).toMatchObject({ phase: "sending", tappedIndex: 1 });
  await clock.advance(120);
  server.isDown = false;
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(server.calls.at(-1)?.body).toMatchObject({ choice_index: 1, answered_at: tappedAt });
});

test("an answer that came too late says whose tap won", async () => {
  const details = { choice_index: 1, answered_at: 1, answered_by: { device_id: "dev_2", label: "Tablet" } };
  server.reply = () => refusal(409, "already_answered", details);
  await queue.tap(question, 0);
  await queue.flush();
  const late = { phase: "answered_elsewhere", tappedIndex: 0, choiceIndex: 1, by: "Tablet" };
  expect(await store.question("int_1")).toMatchObject(late);
});

test.each([
  ["expired", "expired"],
  ["cancelled", "withdrawn"],
])("a question the server says is %s ends as %s", async (status, phase) => {
  server.reply = () => refusal(409, "interaction_closed", { status });
  await queue.tap(question, 0);
  await queue.flush();
  expect(await store.question("int_1")).toMatchObject({ phase, tappedIndex: 0 });
});

test("a question the server does not know any more is not recorded, and said so", async () => {
  server.reply = () => refusal(404, "not_found");
  await queue.tap(question, 0);
  await queue.flush();
  expect(await store.question("int_1")).toMatchObject({ phase: "refused" });
});

test.each([
  [429, "rate_limit_exceeded"],
  [500, "internal_error"],
  [503, "unavailable"],
])("status %i keeps the answer for another try", async (status, code) => {
  server.reply = () => refusal(status, code, {}, { "Retry-After": "9" });
  await queue.tap(question, 0);
  expect(await queue.flush()).toEqual({ state: "retry", retryAfterSeconds: 9, isForeign: false });
  expect(await store.queuedAnswers()).toHaveLength(1);
});

test("a revoked device keeps its answer and says that it is revoked", async () => {
  server.reply = () => Response.json({ error: "invalid_token" }, { status: 401 });
  await queue.tap(question, 0);
  expect(await queue.flush()).toEqual({ state: "revoked" });
});

test.each(FOREIGN_REPLIES)("%s keeps the tap, which goes out when the server is back", async (_what, reply) => {
  const genuine = server.reply;
  server.reply = reply;
  await queue.tap(question, 0);
  expect(await queue.flush()).toMatchObject({ state: "retry", isForeign: true });
  expect(await store.question("int_1")).toMatchObject({ phase: "sending", tappedIndex: 0 });
  server.reply = genuine;
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(await store.question("int_1")).toMatchObject({ phase: "sent", choiceIndex: 0 });
});

test("an answer overtaken through the queue is not sent at all", async () => {
  server.isDown = true;
  await queue.tap(question, 0);
  await queue.flush();
  server.isDown = false;
  await store.takeIn([closedOf("int_1", { status: "cancelled" })], null, clock.now());
  const before = server.calls.length;
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(server.calls).toHaveLength(before);
});

test("two flushes at once send each answer once", async () => {
  await queue.tap(question, 0);
  await Promise.all([queue.flush(), queue.flush()]);
  expect(server.calls).toHaveLength(1);
});

function refusal(status: number, code: string, details = {}, headers = {}): Response {
  return Response.json({ error: { code, message: "no", details } }, { status, headers });
}
