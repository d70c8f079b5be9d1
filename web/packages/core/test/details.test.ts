import { expect, test } from "vitest";
import {
  AnswerQueue,
  answerMessageV2,
  briefOf,
  commentDigest,
  fromBase64,
  MemoryStore,
  type Question,
  questionDigest,
  readEnvelope,
  verifySignature,
} from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";
import { DEVICE_KEYS, deviceOf, FakeServer } from "./fake-server.ts";

const GIVEN = {
  details: [
    { kind: "code", language: "sh", text: "git push" },
    { kind: "fields", fields: [{ name: "Folder", value: "~/shop" }] },
  ],
  source: { app: "Claude Code", host: "laptop-17" },
  confirm: "number",
  comment: "optional",
};

async function asked(given: object) {
  const server = new FakeServer();
  const clock = new FakeClock();
  const store = new MemoryStore(deviceOf(server));
  const queue = new AnswerQueue({ api: server.api, store, keys: DEVICE_KEYS, clock, onChanges: () => undefined });
  const payload = { question: "Push?", choices: ["Allow", "Deny"], expires_at: clock.now() + 600, ...given };
  const json = JSON.stringify({ type: "interaction", id: "int_1", ts: clock.now(), source: { token: "CI" }, payload });
  await store.takeIn([readEnvelope(json)], null, clock.now());
  const question = (await store.question("int_1")) as Question;
  return { server, clock, store, queue, question };
}

test("what a question brings is kept as it was given, and read for the screen", async () => {
  const { question } = await asked(GIVEN);
  expect(question.payload.given).toEqual(GIVEN);
  expect(briefOf(question.payload.given)).toMatchObject({
    blocks: [
      { kind: "code", label: null, language: "sh", text: "git push" },
      { kind: "fields", fields: [{ name: "Folder", value: "~/shop" }] },
    ],
    app: "Claude Code",
    host: "laptop-17",
    where: null,
    isDangerous: false,
    confirm: "number",
    takesComment: true,
    isWhole: true,
  });
});

test.each([
  ["a block of another kind", { details: [{ kind: "film" }] }],
  ["fields of another shape", { details: [{ kind: "fields", fields: [{ name: "a" }] }] }],
  ["another danger", { danger: "odd" }],
  ["another way to confirm", { confirm: "shout" }],
])("a question with %s is not whole", (_what, given) => {
  expect(briefOf(given).isWhole).toBe(false);
});

test("a question with none of it is answered as ever; one with it is signed over as given, number and comment too", async () => {
  const plain = await asked({});
  await plain.queue.tap(plain.question, 0);
  expect((await plain.store.queuedAnswers())[0]).not.toHaveProperty("v");

  const { queue, store, question } = await asked(GIVEN);
  await queue.tap(question, 0, { number: "07", comment: "  go on \n" });
  const [answer] = await store.queuedAnswers();
  expect(answer).toMatchObject({ v: 2, number: "07", comment: { text: "go on" } });
  const { signature, answeredAt, comment } = answer as NonNullable<typeof answer>;
  expect(comment?.salt).toMatch(/^[A-Za-z0-9_-]{22}$/);
  const message = answerMessageV2({
    id: "int_1",
    from: "server",
    digest: await questionDigest({ question: "Push?", choices: ["Allow", "Deny"] }, GIVEN),
    choiceIndex: 0,
    answeredAt,
    number: "07",
    commentSha256: await commentDigest("go on", comment?.salt ?? ""),
  });
  expect(verifySignature(DEVICE_KEYS.signingKey, message, fromBase64(signature))).toBe(true);
});

test("after a wrong number the question waits again and says how many tries are left; the last one ends it", async () => {
  const { queue, store, server, question } = await asked(GIVEN);
  const wrong = (left: number) => () =>
    Response.json({ error: { code: "wrong_number", message: "no", details: { tries_left: left } } }, { status: 403 });
  server.reply = wrong(1);
  await queue.tap(question, 0, { number: "11" });
  await queue.flush();
  const again = (await store.question("int_1")) as Question;
  expect(again).toMatchObject({ phase: "open", tappedIndex: null, triesLeft: 1, endedAt: null });
  server.reply = wrong(0);
  await queue.tap(again, 0, { number: "12" });
  await queue.flush();
  expect(await store.question("int_1")).toMatchObject({ phase: "withdrawn", reason: "wrong_number" });
});
