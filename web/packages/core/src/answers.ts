/** What a person decided, on its way: queued by the tap, sent until the server has said what became of it. */

import { endingAlarms, sendEnding } from "./alarm-endings.ts";
import { endedHere } from "./alarms.ts";
import type { Api } from "./api.ts";
import { randomBytes, toBase64, toBase64Url } from "./bytes.ts";
import type { Clock } from "./clock.ts";
import type { OnChanges } from "./intake.ts";
import { SERVER } from "./keyring.ts";
import type { DeviceKeys } from "./keys.ts";
import type { Verdict } from "./lifecycle.ts";
import { answerMessage, answerMessageV2, commentDigest, questionDigest } from "./receipt.ts";
import type { Alarm, AlarmLife, Question } from "./records.ts";
import { ForeignReplyError, RefusedError, UnreachableError } from "./refusals.ts";
import type { QueuedAnswer, Store } from "./store.ts";

/** `retry`: some answers could not be sent; try again, not before `retryAfterSeconds`. `isForeign`: see ForeignReplyError. */
export type FlushOutcome =
  | { state: "empty" | "revoked" }
  | { state: "retry"; retryAfterSeconds: number; isForeign: boolean };

export interface AnswerParts {
  api: Api;
  store: Store;
  keys: DeviceKeys;
  clock: Clock;
  onChanges: OnChanges;
}

/** What a person typed beside their tap. */
export interface Words {
  /** The two digits that the asker shows. */
  number?: string;
  comment?: string;
}

export class AnswerQueue {
  readonly #parts: AnswerParts;
  #flushing: Promise<FlushOutcome> | null = null;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  /** Signs and queues the answer. False where the question cannot be answered any more, or was just now. */
  async tap(question: Question, choiceIndex: number, words: Words = {}): Promise<boolean> {
    const { store, clock } = this.#parts;
    const answer = await this.#sign(question, choiceIndex, Math.floor(clock.now()), words);
    const tapped = await store.tap(answer, clock.now());
    if (tapped) await this.#parts.onChanges([{ item: tapped, what: "changed" }]);
    return tapped !== null;
  }

  async #sign({ id, payload }: Question, choiceIndex: number, answeredAt: number, words: Words): Promise<QueuedAnswer> {
    const { keys } = this.#parts;
    const { question, choices, given } = payload;
    if (!given) {
      const message = await answerMessage({ id, question, choices }, choiceIndex, answeredAt);
      return { id, choiceIndex, answeredAt, signature: toBase64(await keys.sign(message)) };
    }
    const number = words.number ?? null;
    const text = words.comment?.trim();
    const comment = text ? { text, salt: newSalt() } : null;
    const message = answerMessageV2({
      id,
      from: SERVER,
      digest: await questionDigest({ question, choices }, given),
      choiceIndex,
      answeredAt,
      number,
      commentSha256: comment && (await commentDigest(comment.text, comment.salt)),
    });
    const signature = toBase64(await keys.sign(message));
    const said = { ...(number === null ? {} : { number }), ...(comment ? { comment } : {}) };
    return { id, choiceIndex, answeredAt, signature, v: 2, ...said };
  }

  /** Ends a question without an answer. Throws RefusedError where it has ended otherwise, UnreachableError. */
  async refuse({ id }: Question): Promise<void> {
    const { reason } = await this.#parts.api.dismiss(id);
    await this.#noteEnd(id, reason);
  }

  /** Ends all open questions of a sender in the same way. */
  async refuseAll(tokenId: string): Promise<void> {
    const { dismissed } = await this.#parts.api.dismissQuestions(tokenId);
    for (const id of dismissed) await this.#noteEnd(id, "dismissed");
  }

  /** The server tells only the other devices. */
  async #noteEnd(id: string, reason: string | undefined): Promise<void> {
    const { store, clock, onChanges } = this.#parts;
    const verdict: Verdict = { happening: "cancelled", choiceIndex: null, by: null };
    const judged = await store.judge(id, reason === undefined ? verdict : { ...verdict, reason }, clock.now());
    if (judged) await onChanges([{ item: judged, what: "changed" }]);
  }

  /** Stops a ring, or acknowledges an emergency: at once here, everywhere once the server has heard of it. */
  async end(alarm: Alarm): Promise<void> {
    // A desktop has no say over emergencies: it can only be quiet itself.
    const isDesktop = (await this.#parts.store.device())?.deviceClass === "desktop";
    if (isDesktop && alarm.type === "emergency") return this.silence(alarm);
    const outcome = alarm.type === "ring" ? "stopped" : "acknowledged";
    await this.#changeAlarm(alarm, (life) => endedHere(life, outcome));
  }

  /** Quiet on this device alone; the others go on. */
  async silence(alarm: Alarm): Promise<void> {
    await this.#changeAlarm(alarm, (life) => ({ ...life, isSilenced: true }));
  }

  async #changeAlarm({ key }: Alarm, change: (life: AlarmLife) => AlarmLife | null): Promise<void> {
    const { store, clock, onChanges } = this.#parts;
    const changed = await store.changeAlarm(key, change, clock.now());
    if (changed) await onChanges([{ item: changed, what: "changed" }]);
  }

  /** Sends what waits, oldest first. Calls that come while one runs share its outcome, or run once more after it. */
  async flush(): Promise<FlushOutcome> {
    while (this.#flushing) await this.#flushing;
    this.#flushing = this.#flushAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #flushAll(): Promise<FlushOutcome> {
    const { store, clock, onChanges } = this.#parts;
    const device = await store.device();
    if (!device) return { state: "empty" };
    const waiting = (await store.queuedAnswers()).sort((a, b) => a.answeredAt - b.answeredAt);
    const outage = (await this.#sendEndings()) ?? null;
    if (outage?.state === "revoked") return outage;
    for (const answer of waiting) {
      const word = await this.#send(answer, device.deviceId);
      if ("state" in word) return word;
      const judged = await store.judge(answer.id, word, clock.now());
      if (judged) await onChanges([{ item: judged, what: "changed" }]);
    }
    return outage ?? { state: "empty" };
  }

  /** Rings and emergencies that were ended here. Null where nothing is left. */
  async #sendEndings(): Promise<FlushOutcome | null> {
    const { api, store, clock, onChanges } = this.#parts;
    for (const alarm of endingAlarms(await store.items(), clock.now())) {
      try {
        const life = await sendEnding(api, alarm, clock.now());
        const changed = await store.changeAlarm(alarm.key, () => life, clock.now());
        if (changed) await onChanges([{ item: changed, what: "changed" }]);
      } catch (error) {
        return outageOf(error);
      }
    }
    return null;
  }

  async #send(answer: QueuedAnswer, deviceId: string): Promise<Verdict | FlushOutcome> {
    const { id, choiceIndex, answeredAt, ...signed } = answer;
    try {
      await this.#parts.api.answer(id, { choice_index: choiceIndex, answered_at: answeredAt, ...signed });
      return { happening: "accepted", choiceIndex, by: null };
    } catch (error) {
      const isFinal = error instanceof RefusedError && !error.isPassing && !error.isRevocation;
      return isFinal ? verdictOf(error, deviceId) : outageOf(error);
    }
  }
}

const SALT_BYTES = 16;

function newSalt(): string {
  return toBase64Url(randomBytes(SALT_BYTES));
}

function outageOf(error: unknown): FlushOutcome {
  if (error instanceof RefusedError && error.isRevocation) return { state: "revoked" };
  const isOutage = error instanceof RefusedError || error instanceof UnreachableError;
  const retryAfterSeconds = isOutage ? error.retryAfterSeconds : 0;
  return { state: "retry", retryAfterSeconds, isForeign: error instanceof ForeignReplyError };
}

function verdictOf({ code, details }: RefusedError, deviceId: string): Verdict {
  if (code === "already_answered") {
    const by = (details["answered_by"] ?? {}) as { device_id?: unknown; label?: unknown };
    const choiceIndex = typeof details["choice_index"] === "number" ? details["choice_index"] : null;
    const isHere = by.device_id === deviceId;
    const label = typeof by.label === "string" ? by.label : null;
    return { happening: isHere ? "answered_here" : "answered", choiceIndex, by: label };
  }
  if (code === "wrong_number") {
    const triesLeft = typeof details["tries_left"] === "number" ? details["tries_left"] : 0;
    const none = { choiceIndex: null, by: null };
    return triesLeft > 0
      ? { happening: "wrong_number", ...none, triesLeft }
      : { happening: "cancelled", ...none, reason: "wrong_number" };
  }
  const ended = code === "interaction_closed" ? details["status"] : code;
  if (ended === "expired" || ended === "cancelled") return { happening: ended, choiceIndex: null, by: null };
  return { happening: "refused", choiceIndex: null, by: null };
}
