import { beforeEach, expect, test } from "vitest";
import { type Envelope, foremostAlarm, MemoryStore, readEnvelope } from "../src/index.ts";
import { deviceOf, FakeServer, noteOf, questionOf } from "./fake-server.ts";

const NOW = 1_754_800_010;
const FROM = { token: "CI", token_id: "tok_1" };
let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore(deviceOf(new FakeServer()));
});

const changed = (change: object, id = "msg_c1", ts = NOW): Envelope =>
  readEnvelope(
    JSON.stringify({
      type: "token.changed",
      id,
      ts,
      source: FROM,
      payload: { token_id: "tok_1", by: "Tablet", by_id: "dev_2", ...change },
    }),
  );
const take = (envelope: Envelope, now = NOW) => store.takeIn([envelope], null, now);
const from = (envelope: Envelope): Envelope => ({ ...envelope, source: FROM });
const ring = (id: string): Envelope => ({
  type: "ring",
  id,
  ts: NOW,
  source: FROM,
  payload: { duration: 30, message: null, expires_at: NOW + 3600 },
});

test("what another phone muted is silent here, rings nobody and asks nothing, whatever the server delivers", async () => {
  await take(changed({ muted_until: NOW + 600 }));
  expect(await take(from(noteOf("msg_1")))).toMatchObject([{ item: { isMuted: true }, what: "came" }]);
  expect(await take(from(questionOf("int_1")))).toEqual([]);
  await take(ring("msg_r"));
  expect(foremostAlarm(await store.items(), NOW)).toBeNull();
});

test("another sender, and the same one after its time, are heard", async () => {
  await take(changed({ muted_until: NOW + 600 }));
  expect(await take({ ...noteOf("msg_1"), source: { token: "CI", token_id: "tok_2" } })).not.toHaveProperty(
    "0.item.isMuted",
  );
  expect(await take(from(questionOf("int_1", NOW + 900)), NOW + 600)).toHaveLength(1);
});

test("a mute lasts until it is taken back; one that is older than what is known changes nothing", async () => {
  await take(changed({ muted_until: "forever" }));
  await take(changed({ muted_until: null }, "msg_c2", NOW + 5));
  await take(changed({ muted_until: "forever" }, "msg_c3", NOW + 1));
  expect(await take(from(questionOf("int_1")))).toHaveLength(1);
});

test("a word for a time that this app does not know mutes for good", async () => {
  await take(changed({ muted_until: "next week" }));
  expect(await take(from(questionOf("int_1")), NOW)).toEqual([]);
});

test("a new name and colour are those of everything that is kept of the sender; the entry itself says the old one", async () => {
  await take(from(noteOf("msg_1")));
  await take({ ...noteOf("msg_2"), source: { token: "CI" } });
  await take(changed({ label: "Release bot", colour: "rose" }));
  const [mine, other, entry] = await store.items();
  expect(mine?.source).toEqual({ token: "Release bot", token_id: "tok_1", colour: "rose" });
  expect(other?.source).toEqual({ token: "CI" });
  expect(entry).toMatchObject({ type: "token.changed", source: { token: "CI" }, isRead: true });
});
