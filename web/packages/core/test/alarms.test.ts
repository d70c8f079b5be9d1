import { beforeEach, expect, test } from "vitest";
import {
  type Alarm,
  AnswerQueue,
  type Envelope,
  foremostAlarm,
  isAlarm,
  isDemanding,
  isLoud,
  lifeOf,
  MemoryStore,
  ROUND_SECONDS,
  roundOf,
  waitingCount,
} from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";
import { DEVICE_KEYS, deviceOf, FakeServer, PLAIN } from "./fake-server.ts";
import { FOREIGN_REPLIES } from "./foreign-replies.ts";

const START = 1_754_800_000;
const RETRY = 60;

let server: FakeServer;
let clock: FakeClock;
let store: MemoryStore;
let queue: AnswerQueue;
let told: string[];

beforeEach(() => {
  server = new FakeServer();
  clock = new FakeClock(START);
  store = new MemoryStore(deviceOf(server));
  told = [];
  queue = new AnswerQueue({ api: server.api, store, keys: DEVICE_KEYS, clock, onChanges: () => {} });
});

async function take(envelope: Envelope): Promise<void> {
  told.push(...(await store.takeIn([envelope], null, clock.now())).map(({ item, what }) => `${item.type} ${what}`));
}

const said = { ...PLAIN, message: "Writes fail", title: "Disk is full", url: null, url_title: null };
const emergency = (id = "msg_1"): Extract<Envelope, { type: "emergency" }> => ({
  type: "emergency",
  id,
  ts: START,
  source: { token: "Monitoring" },
  payload: { ...said, receipt: `r_${id}`, retry: RETRY, expires_at: START + 3600 },
});
const ring = (id = "msg_2"): Envelope => ({
  type: "ring",
  id,
  ts: START,
  source: { token: "Doorbell" },
  payload: { duration: 30, message: null, expires_at: START + 60 },
});
const closed = (status: "acknowledged" | "cancelled" | "expired", by: string | null = null): Envelope => ({
  type: "emergency.closed",
  id: "msg_1",
  ts: START,
  source: {},
  payload: { status, by },
});

async function kept(id = "msg_1"): Promise<Alarm> {
  return (await store.items()).find((item) => item.id === id && isAlarm(item)) as Alarm;
}

test("an emergency sounds at the start of each round, until its end", async () => {
  await take(emergency());
  const alarm = await kept();
  for (const round of [0, 1, 7]) {
    expect(isLoud(alarm, START + round * RETRY)).toBe(true);
    expect(isLoud(alarm, START + round * RETRY + ROUND_SECONDS)).toBe(false);
    expect(isDemanding(alarm, START + round * RETRY + ROUND_SECONDS)).toBe(true);
  }
  expect(roundOf(alarm as Extract<Alarm, { type: "emergency" }>, START + 3 * RETRY)).toBe(4);
  expect(isDemanding(alarm, START + 3599)).toBe(true);
  expect(lifeOf(alarm, START + 3600)).toMatchObject({ state: "over", outcome: "expired" });
});

test("a ring sounds for its duration from when it came, but never late", async () => {
  await take(ring());
  expect(isLoud(await kept("msg_2"), START + 29)).toBe(true);
  expect(isLoud(await kept("msg_2"), START + 30)).toBe(false);
  await clock.advance(61);
  await take(ring("msg_3"));
  expect(isLoud(await kept("msg_3"), clock.now())).toBe(false);
});

test("a further round is told again, the same round by another way is not", async () => {
  await take(emergency());
  await take(emergency());
  await clock.advance(RETRY);
  await take(emergency());
  await take(emergency());
  expect(told).toEqual(["emergency came", "emergency again"]);
});

test("a round of one that was silenced or ended here is told to nobody", async () => {
  await take(emergency());
  await queue.silence(await kept());
  await clock.advance(RETRY);
  await take(emergency());
  expect(told).toEqual(["emergency came"]);
  expect(isDemanding(await kept(), clock.now())).toBe(false);
  expect(lifeOf(await kept(), clock.now()).state).toBe("on"); // elsewhere it goes on
});

test.each([
  ["acknowledged", "Tablet"],
  ["cancelled", null],
  ["expired", null],
] as const)("an emergency that was %s elsewhere is over, also where its end came first", async (status, by) => {
  await take(emergency());
  await take(closed(status, by));
  const after = { state: "over", outcome: status, by };
  expect(lifeOf(await kept(), clock.now())).toMatchObject(after);
  store = new MemoryStore(deviceOf(server));
  told = [];
  await take(closed(status, by));
  await take(emergency());
  expect(lifeOf(await kept(), clock.now())).toMatchObject(after);
  expect(told).toEqual(["emergency.closed came", "emergency changed"]);
});

test("a ring that was stopped elsewhere is silent", async () => {
  await take(ring());
  await take({ type: "ring.stopped", id: "msg_2", ts: START, source: {}, payload: { by: "Tablet" } });
  expect(lifeOf(await kept("msg_2"), clock.now())).toMatchObject({ state: "over", outcome: "stopped", by: "Tablet" });
});

test("an acknowledgement is quiet at once and sent to the server", async () => {
  await take(emergency());
  expect(waitingCount(await store.items(), clock.now())).toBe(1);
  await queue.end(await kept());
  expect(isDemanding(await kept(), clock.now())).toBe(false);
  expect(waitingCount(await store.items(), clock.now())).toBe(0);
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(server.paths("POST")).toEqual(["/v1/emergencies/r_msg_1/acknowledge"]);
  expect(lifeOf(await kept(), clock.now())).toMatchObject({ state: "over", outcome: "acknowledged" });
});

test.each(FOREIGN_REPLIES)("%s keeps an acknowledgement for later", async (_what, reply) => {
  await take(emergency());
  await queue.end(await kept());
  server.reply = reply;
  expect(await queue.flush()).toMatchObject({ state: "retry", isForeign: true });
  expect(lifeOf(await kept(), clock.now()).state).toBe("ending");
  server.reply = () => new Response(null, { status: 204 });
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(lifeOf(await kept(), clock.now()).state).toBe("over");
});

test("an acknowledgement that came too late says what it was", async () => {
  await take(emergency());
  await queue.end(await kept());
  const error = { code: "emergency_closed", message: "no", details: { status: "cancelled" } };
  server.reply = () => Response.json({ error }, { status: 409 });
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(lifeOf(await kept(), clock.now())).toMatchObject({ state: "over", outcome: "cancelled" });
});

test("stopping a ring tells the server, while anything still rings", async () => {
  await take(ring());
  await queue.end(await kept("msg_2"));
  server.isDown = true;
  expect(await queue.flush()).toMatchObject({ state: "retry" });
  server.isDown = false;
  await queue.flush();
  expect(server.paths("POST").at(-1)).toBe("/v1/rings/msg_2/stop");
  await take(ring("msg_3"));
  await queue.end(await kept("msg_3"));
  await clock.advance(31);
  const before = server.calls.length;
  expect(await queue.flush()).toEqual({ state: "empty" });
  expect(server.calls).toHaveLength(before);
});

test("a desktop cannot acknowledge: it only falls silent itself", async () => {
  store = new MemoryStore({ ...deviceOf(server), deviceClass: "desktop" });
  queue = new AnswerQueue({ api: server.api, store, keys: DEVICE_KEYS, clock, onChanges: () => {} });
  await take(emergency());
  await queue.end(await kept());
  expect(lifeOf(await kept(), clock.now())).toMatchObject({ state: "on", isSilenced: true });
});

test("an emergency stands before any ring, and the first of two before the second", async () => {
  await take(ring());
  await take({ ...emergency("msg_9"), ts: START + 5 });
  await take(emergency("msg_1"));
  const items = await store.items();
  expect(foremostAlarm(items, clock.now())?.id).toBe("msg_1");
  await queue.silence(await kept("msg_1"));
  await queue.silence(await kept("msg_9"));
  expect(foremostAlarm(await store.items(), clock.now())?.id).toBe("msg_2");
});

test("a ring kept by an older app is over once it was read", async () => {
  await take(ring());
  const { alarm: _, ...old } = await kept("msg_2");
  expect(isDemanding({ ...old, isRead: true } as Alarm, clock.now())).toBe(false);
  expect(isDemanding(old as Alarm, clock.now())).toBe(true);
});
