import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  AnswerQueue,
  type Change,
  type Envelope,
  isOver,
  MemoryStore,
  phaseAt,
  type Question,
  readEnvelope,
  waitingCount,
} from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";
import { DEVICE_KEYS, deviceOf, FakeServer } from "./fake-server.ts";

interface Step {
  at: number;
  arrive?: "question" | "closed";
  tap?: number;
  reply?: { status: number; body: unknown };
}

interface Case {
  name: string;
  steps: Step[];
  expect: object;
}

interface Vectors {
  start: number;
  device_id: string;
  question: object & { id: string };
  cases: Case[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../../../tests/vectors/lifecycle.json", import.meta.url), "utf8"),
);

test.each(vectors.cases)("$name", async ({ steps, expect: expected }) => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const store = new MemoryStore({ ...deviceOf(server), deviceId: vectors.device_id });
  const changes: Change[] = [];
  const tell = (news: Change[]) => void changes.push(...news);
  const queue = new AnswerQueue({ api: server.api, store, keys: DEVICE_KEYS, clock, onChanges: tell });
  const take = async (envelope: Envelope) => tell(await store.takeIn([envelope], null, clock.now()));
  for (const step of steps) {
    await clock.advance(vectors.start + step.at - clock.now());
    if (step.arrive === "question") await take(readEnvelope(JSON.stringify(vectors.question)));
    if (step.arrive === "closed") await take(closedOf(step));
    const question = await store.question(vectors.question.id);
    if (step.tap !== undefined && question) await queue.tap(question, step.tap);
    if (step.reply) {
      const { status, body } = step.reply;
      server.reply = () =>
        typeof body === "string" ? new Response(body, { status }) : Response.json(body, { status });
      await queue.flush();
    }
  }
  const question = (await store.question(vectors.question.id)) as Question;
  const phase = phaseAt(question, clock.now());
  const prompts = changes.filter(({ item, what }) => item.type === "interaction" && what === "came").length;
  const wasShown = prompts > 0;
  expect({
    outcome: wasShown ? (phase === "refused" ? "not_recorded" : phase) : null,
    choice_index: wasShown ? (phase === "sending" ? question.tappedIndex : question.choiceIndex) : null,
    by: wasShown ? question.by : null,
    too_late: question.tappedIndex !== null && isOver(phase) && phase !== "sent",
    waiting: waitingCount(await store.items(), clock.now()),
    prompts,
  }).toEqual(expected);
});

function closedOf({ at, arrive: _, ...payload }: Step): Envelope {
  const { id } = vectors.question;
  const envelope = { type: "interaction.closed", id, ts: vectors.start + at, source: {}, payload };
  return readEnvelope(JSON.stringify(envelope));
}
