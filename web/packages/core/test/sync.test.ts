import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Change,
  Intake,
  type LinkState,
  MemoryStore,
  pullEntries,
  SILENCE_MAX_SECONDS,
  SyncClient,
} from "../src/index.ts";
import { FakeClock, settled } from "./fake-clock.ts";
import { blobOf, deviceOf, eventOf, FakeServer, keyringOf, noteOf } from "./fake-server.ts";

let server: FakeServer;
let clock: FakeClock;
let store: MemoryStore;
let intake: Intake;
let client: SyncClient;
let changes: Change[];
let states: LinkState[];
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  server = new FakeServer();
  clock = new FakeClock();
  store = new MemoryStore(deviceOf(server));
  changes = [];
  states = [];
  stop = new AbortController();
  intake = new Intake(store, keyringOf(server), clock, (news) => void changes.push(...news));
  const onState = (state: LinkState) => void states.push(state);
  client = new SyncClient({ api: server.api, store, intake, clock, random: () => 0, onState });
});

afterEach(async () => {
  stop.abort();
  await running;
});

async function start(): Promise<void> {
  running = client.run(stop.signal);
  await settled();
}

test("what the stream brings is stored, told and acknowledged", async () => {
  await start();
  server.send((await eventOf(server, 4, noteOf("msg_1"))) + (await eventOf(server, 6, noteOf("msg_2"))));
  await settled();
  expect(changes.map(({ item }) => item.id)).toEqual(["msg_1", "msg_2"]);
  expect(await store.cursor()).toBe(6);
  expect(server.acked()).toEqual([6]);
  expect(server.calls[0]).toMatchObject({ path: "/v1/sync?after=0", token: "Bearer rfd_live_test" });
});

test("after a fall it resumes behind what is stored, nothing twice", async () => {
  await start();
  server.send(await eventOf(server, 4, noteOf("msg_1")));
  await settled();
  server.endStream();
  await settled();
  expect(states).toEqual(["connecting", "live", "connecting"]);
  await clock.advance(0.25);
  expect(server.paths("GET").at(-1)).toBe("/v1/sync?after=4");
  server.send(await eventOf(server, 4, noteOf("msg_1")));
  await settled();
  expect(changes).toHaveLength(1);
});

test("a server restored from a backup is believed: its lower numbers move the cursor back", async () => {
  await store.takeIn([], { seq: 90, isRewound: false }, clock.now());
  await start();
  server.send(await eventOf(server, 3, noteOf("msg_9")));
  await settled();
  expect(await store.cursor()).toBe(3);
  expect(server.acked()).toEqual([3]);
  server.send(await eventOf(server, 4, noteOf("msg_10")));
  await settled();
  expect(await store.cursor()).toBe(4);
});

test("a blob that cannot be opened does not hold up what comes behind it", async () => {
  await start();
  const broken = `id: 1\nevent: message\ndata: {"seq":1,"from":"server","blob":"AaWf","expires_at":1}\n\n`;
  server.send(broken + (await eventOf(server, 2, noteOf("msg_2"))));
  await settled();
  expect(changes.map(({ item }) => item.id)).toEqual(["msg_2"]);
  expect(await store.cursor()).toBe(2);
});

test("pauses double from a quarter of a second up to fifteen when luck is lowest", async () => {
  server.isDown = true;
  await start();
  const pauses: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const pause = clock.pending[0] ?? Number.NaN;
    pauses.push(pause);
    await clock.advance(pause);
  }
  expect(pauses).toEqual([0.25, 0.5, 1, 2, 4, 8, 15, 15, 15]);
});

test("a Retry-After is waited for", async () => {
  server.reply = () => new Response("{}", { status: 503, headers: { "Retry-After": "7" } });
  await start();
  expect(clock.pending).toEqual([7]);
});

test("the network's return ends the pause", async () => {
  server.isDown = true;
  await start();
  server.isDown = false;
  client.wake({ reconnect: false });
  await settled();
  expect(states.at(-1)).toBe("live");
});

test("a line that stays silent longer than the server ever does is given up", async () => {
  await start();
  await clock.advance(SILENCE_MAX_SECONDS - 1);
  server.send(":\n\n");
  await settled();
  await clock.advance(SILENCE_MAX_SECONDS - 1);
  expect(states).toEqual(["connecting", "live"]);
  await clock.advance(1);
  expect(states).toEqual(["connecting", "live", "connecting"]);
});

test("a revoked device stops for good", async () => {
  server.reply = () => Response.json({ error: "invalid_token" }, { status: 401 });
  await start();
  await running;
  expect(states).toEqual(["connecting", "revoked"]);
  expect(server.calls).toHaveLength(1);
});

test("acknowledgements never pile up: while one is out, only the latest is kept", async () => {
  await start();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fetch = server.fetch;
  const api = server.api;
  api.ack = async (seq) => {
    if (seq === 1) await held;
    await fetch("/v1/sync/ack", { method: "POST", body: JSON.stringify({ seq }) });
  };
  stop.abort();
  await running;
  stop = new AbortController();
  client = new SyncClient({ api, store, intake, clock, random: () => 0, onState: () => {} });
  await start();
  for (const seq of [1, 2, 3]) {
    server.send(await eventOf(server, seq, noteOf(`msg_${seq}`)));
    await settled();
  }
  expect(server.acked()).toEqual([]);
  release();
  await settled();
  expect(server.acked()).toEqual([1, 3]);
});

test("a single pushed entry is stored without moving the cursor: what lies before it may be missing", async () => {
  running = Promise.resolve();
  await intake.takeSingle({ from: "server", blob: await blobOf(server, noteOf("msg_5")) });
  expect(changes).toHaveLength(1);
  expect(await store.cursor()).toBe(0);
});

test("entries of a sender whose key is unknown are passed over", async () => {
  running = Promise.resolve();
  await intake.takeSingle({ from: "dev_other", blob: await blobOf(server, noteOf("msg_5")) });
  expect(changes).toEqual([]);
});

test("a wake-up without its blob fetches everything behind the cursor and acknowledges it", async () => {
  running = Promise.resolve();
  const blobs = [await blobOf(server, noteOf("msg_1")), await blobOf(server, noteOf("msg_2"))];
  server.reply = ({ path }) => {
    if (path === "/v1/sync/ack") return new Response(null, { status: 204 });
    const after = Number(path.split("=")[1]);
    const entries = blobs.map((blob, index) => ({ seq: index + 1, from: "server", blob, expires_at: 1 }));
    return Response.json({ entries: entries.slice(after, after + 1) });
  };
  await pullEntries(server.api, store, intake);
  expect(changes.map(({ item }) => item.id)).toEqual(["msg_1", "msg_2"]);
  expect(server.acked()).toEqual([1, 2]);
  expect(await store.cursor()).toBe(2);
});

test("an error that is no bad message stops the intake instead of losing the message", async () => {
  await start();
  store.takeIn = () => Promise.reject(new Error("disk full"));
  server.send(await eventOf(server, 1, noteOf("msg_1")));
  await settled();
  expect(states.at(-1)).toBe("connecting");
  expect(server.acked()).toEqual([]);
});

test("a proxy's page in the stream's place is called foreign, and the stream comes back by itself", async () => {
  server.reply = () => new Response("<html>", { status: 401 });
  await start();
  expect(states).toEqual(["connecting", "foreign"]);
  server.reply = () => new Response(null, { status: 204 });
  await clock.advance(0.25);
  expect(states.at(-1)).toBe("live");
});

test("while it tries again it says what the last try found", async () => {
  server.isDown = true;
  await start();
  await clock.advance(0.25);
  await clock.advance(0.5);
  expect(new Set(states.slice(1))).toEqual(new Set(["waiting"]));
});

test("events that are not in the server's form are not the server's", async () => {
  await start();
  server.send('event: message\ndata: {"hello":1}\n\n');
  await settled();
  expect(states.at(-1)).toBe("foreign");
  expect(await store.cursor()).toBe(0);
});
