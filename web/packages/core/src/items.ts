/** What the phone keeps of each envelope, and what a further envelope does to it. Pure. */

import type { Envelope, Payloads, Source } from "./envelope.ts";
import { type Happening, LIFECYCLE, type Phase, type Verdict } from "./lifecycle.ts";

interface Kept {
  /** `type:id`: each is shown once, however often and by whatever way it arrives. */
  key: string;
  id: string;
  /** When it was sent and when it arrived, in Unix seconds. */
  ts: number;
  receivedAt: number;
  source: Source;
  isRead: boolean;
  /** A system notification was made of it, or it was on the screen when it came. */
  isAnnounced: boolean;
}

export interface Question extends Kept {
  type: "interaction";
  payload: Payloads["interaction"];
  phase: Phase;
  /** What was tapped here, and what the server recorded in the end. */
  tappedIndex: number | null;
  choiceIndex: number | null;
  /** The label of the device whose tap won, where it was another one. */
  by: string | null;
  endedAt: number | null;
}

export type Note = {
  [Type in Exclude<keyof Payloads, "interaction">]: Kept & { type: Type; payload: Payloads[Type] };
}[Exclude<keyof Payloads, "interaction">];
export type NoteOf<Type extends Note["type"]> = Extract<Note, { type: Type }>;

export type Item = Question | Note;

/** One item that came or changed. */
export interface Change {
  item: Item;
  what: "came" | "changed";
}

export function keyOf(type: Envelope["type"], id: string): string {
  return `${type}:${id}`;
}

/** The phase at this instant: expiry is decided by comparison, not by a timer that may not have run. */
export function phaseAt(question: Question, now: number): Phase {
  const isOverdue = question.phase === "open" && now >= question.payload.expires_at;
  return isOverdue ? "expired" : question.phase;
}

/** The question after what happened; the same object where the table says that nothing changes. */
export function step(question: Question, happening: Happening, now: number): Question {
  const phase = LIFECYCLE[phaseAt(question, now)][happening];
  if (phase === undefined) return question;
  return { ...question, phase, endedAt: phase === "sending" ? null : Math.floor(now) };
}

export function judge(question: Question, verdict: Verdict, now: number): Question {
  const judged = step(question, verdict.happening, now);
  if (judged === question) return question;
  const isTapped = judged.phase === "sent" && verdict.choiceIndex === null;
  return { ...judged, choiceIndex: isTapped ? question.tappedIndex : verdict.choiceIndex, by: verdict.by };
}

/** What is kept already of an arriving envelope: itself, and the other half of a question and its end. */
export interface Known {
  same: Item | undefined;
  question: Question | undefined;
  closed: NoteOf<"interaction.closed"> | undefined;
}

/** Takes one envelope in: returns what to keep and what to tell. A repeat changes nothing. */
export function absorb(envelope: Envelope, known: Known, deviceId: string, now: number): Change[] {
  if (known.same) return [];
  const item = itemOf(envelope, now);
  if (item.type === "interaction" && known.closed) {
    // The end overtook the question, as a push can overtake the stream.
    return [
      { item: { ...close(item, known.closed, deviceId, now), isAnnounced: true, isRead: true }, what: "changed" },
    ];
  }
  const changes: Change[] = [{ item, what: "came" }];
  if (item.type === "interaction.closed" && known.question) {
    const ended = close(known.question, item, deviceId, now);
    if (ended !== known.question) changes.push({ item: ended, what: "changed" });
  }
  return changes;
}

function close(question: Question, closed: NoteOf<"interaction.closed">, deviceId: string, now: number): Question {
  const { status, choice_index, answered_by, answered_by_id } = closed.payload;
  const isHere = status === "answered" && answered_by_id === deviceId;
  const happening = status === "cancelled" ? "cancelled" : isHere ? "answered_here" : "answered";
  return judge(question, { happening, choiceIndex: choice_index, by: isHere ? null : answered_by }, now);
}

function itemOf(envelope: Envelope, now: number): Item {
  const { id, ts, source } = envelope;
  const kept = { key: keyOf(envelope.type, id), id, ts, source, receivedAt: now, isRead: false, isAnnounced: false };
  if (envelope.type !== "interaction") return { ...kept, type: envelope.type, payload: envelope.payload } as Note;
  const life = { phase: "open" as Phase, tappedIndex: null, choiceIndex: null, by: null, endedAt: null };
  return { ...kept, ...life, type: "interaction", payload: envelope.payload };
}
