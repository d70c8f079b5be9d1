import "fake-indexeddb/auto";
import { fromBase64, keysFromSecrets, toBase64, verifySignature } from "@reflecto/core";
import { IDBFactory } from "fake-indexeddb";
import { beforeEach, expect, test, vi } from "vitest";
import { type Database, forgetEverything, openDatabase, recall, remember } from "../src/database.ts";
import { IdbStore, ITEMS_MAX, KEPT_SECONDS } from "../src/idb-store.ts";
import { makeKeys, openKeys, wrapSecrets } from "../src/key-store.ts";

const NOW = 1_754_800_010;
const DEVICE = { ownerId: "own_1", deviceId: "dev_self", deviceToken: "rfd", label: "Phone", serverKey: "" };
const ANSWER = { id: "int_1", choiceIndex: 0, answeredAt: NOW, signature: "" };
let database: Database;
let store: IdbStore;

beforeEach(async () => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  database = await openDatabase();
  await remember(database, "device", DEVICE);
  store = new IdbStore(database);
});

const question = (id = "int_1") => ({
  type: "interaction" as const,
  id,
  ts: NOW,
  source: { token: "CI" },
  payload: { question: "Deploy?", choices: ["Approve", "Deny"], expires_at: NOW + 600 },
});
const reminder = (id: string) => ({
  type: "reminder" as const,
  id,
  ts: NOW,
  source: { token: "CI" },
  payload: { message: "Tea", title: null, at: NOW, late: false },
});
const closed = {
  type: "interaction.closed" as const,
  id: "int_1",
  ts: NOW,
  source: { server: "Reflecto" },
  payload: { status: "cancelled" as const, choice_index: null, answered_by: null, answered_by_id: null },
};

test("page and worker together take an envelope in once", async () => {
  const other = new IdbStore(await openDatabase());
  const taken = await Promise.all([store, other].map((each) => each.takeIn([question()], null, NOW)));
  expect(taken.flat()).toHaveLength(1);
});

test("page and worker together announce it once and answer it once", async () => {
  const other = new IdbStore(await openDatabase());
  await store.takeIn([question()], null, NOW);
  const claims = await Promise.all([store, other].map((each) => each.claimAnnouncement("interaction:int_1")));
  expect(claims.filter(Boolean)).toHaveLength(1);
  const taps = await Promise.all([store.tap(ANSWER, NOW), other.tap({ ...ANSWER, choiceIndex: 1 }, NOW)]);
  expect(taps.filter(Boolean)).toHaveLength(1);
  expect(await store.queuedAnswers()).toHaveLength(1);
});

test("the cursor only goes forward, unless the server itself went back", async () => {
  await store.takeIn([], { seq: 9, isRewound: false }, NOW);
  await store.takeIn([], { seq: 4, isRewound: false }, NOW);
  expect(await store.cursor()).toBe(9);
  await store.takeIn([], { seq: 4, isRewound: true }, NOW);
  expect(await store.cursor()).toBe(4);
});

test("a question that ends takes its waiting answer with it", async () => {
  await store.takeIn([question()], null, NOW);
  await store.tap(ANSWER, NOW);
  await store.takeIn([closed], null, NOW);
  expect(await store.queuedAnswers()).toEqual([]);
  expect(await store.question("int_1")).toMatchObject({ phase: "withdrawn", tappedIndex: 0 });
});

test("a device that was forgotten takes nothing in", async () => {
  await forgetEverything(database);
  expect(await store.takeIn([question()], null, NOW)).toEqual([]);
  expect(await recall(database, "device")).toBeNull();
});

test("whom the owner muted is kept for page and worker, from this phone and from others; forgetting ends it", async () => {
  const from = { token: "CI", token_id: "tok_1" };
  await store.takeIn([{ ...reminder("rem_1"), source: from }], null, NOW);
  await store.changeSenders([{ tokenId: "tok_1", label: "Release bot", mutedUntil: NOW + 60 }], NOW);
  const worker = new IdbStore(await openDatabase());
  expect(await worker.senders()).toEqual({ tok_1: { mutedUntil: NOW + 60, at: NOW, by: null } });
  expect(await worker.item("reminder:rem_1")).toMatchObject({ source: { token: "Release bot" } });
  expect(await worker.takeIn([{ ...question(), source: from }], null, NOW)).toEqual([]);
  const payload = { token_id: "tok_1", by: "Tablet", by_id: "dev_2", muted_until: null };
  await worker.takeIn([{ type: "token.changed", id: "msg_c", ts: NOW + 1, source: from, payload }], null, NOW + 1);
  expect(await store.senders()).toEqual({ tok_1: { mutedUntil: null, at: NOW + 1, by: "Tablet" } });
  expect(await store.takeIn([{ ...question(), source: from }], null, NOW + 1)).toHaveLength(1);
  await forgetEverything(database);
  expect(await store.senders()).toEqual({});
});

test("the history is kept to its age and its size, open questions always", async () => {
  await store.takeIn([reminder("rem_old")], null, NOW - KEPT_SECONDS - 1);
  await store.takeIn([question()], null, NOW - KEPT_SECONDS - 1);
  const many = Array.from({ length: ITEMS_MAX + 5 }, (_, index) => reminder(`rem_${index}`));
  await store.takeIn(many, null, NOW);
  await store.prune(NOW);
  const kept = await store.items();
  expect(kept).toHaveLength(ITEMS_MAX + 1);
  expect(kept.some(({ id }) => id === "rem_old")).toBe(false);
  expect(kept.some(({ id }) => id === "int_1")).toBe(true);
});

test("native keys agree with the portable ones, and cannot be exported", async () => {
  const stored = await makeKeys();
  const keys = await openKeys(stored);
  const other = keysFromSecrets({ box: new Uint8Array(32).fill(3), signingSeed: new Uint8Array(32).fill(4) });
  expect(toBase64(await keys.sharedKey(other.publicKey))).toBe(toBase64(await other.sharedKey(keys.publicKey)));
  const message = fromBase64("AAEC");
  expect(verifySignature(keys.signingKey, message, await keys.sign(message))).toBe(true);
  expect(stored).toMatchObject({ kind: "webcrypto", box: { extractable: false }, signing: { extractable: false } });
});

test("wrapped keys come back as they were, under a key that cannot be exported", async () => {
  const secrets = { box: new Uint8Array(32).fill(5), signingSeed: new Uint8Array(32).fill(6) };
  const stored = await wrapSecrets(secrets);
  const keys = await openKeys(stored);
  expect(toBase64(keys.publicKey)).toBe(toBase64(keysFromSecrets(secrets).publicKey));
  expect(stored).toMatchObject({ kind: "wrapped", wrapping: { extractable: false } });
});
