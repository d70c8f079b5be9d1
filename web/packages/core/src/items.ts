/** What the phone keeps of each envelope, and what a further envelope does to it. Pure. */

import { closeAlarm, isAlarm, isDemanding, NEW_ALARM, nextRound } from "./alarms.ts";
import type { Envelope } from "./envelope.ts";
import { type Happening, isOver, LIFECYCLE, type Phase, type Verdict } from "./lifecycle.ts";
import type { Change, Item, Note, NoteOf, Question } from "./records.ts";
import type { QueuedAnswer } from "./store.ts";

export function keyOf(type: Envelope["type"], id: string): string {
  return `${type}:${id}`;
}

/** The phase at this instant: expiry is decided by comparison, not by a timer that may not have run. */
export function phaseAt(question: Question, now: number): Phase {
  const isOverdue = question.phase === "open" && now >= question.payload.expires_at;
  return isOverdue ? "expired" : question.phase;
}

/** The question once it is tapped here; null where it cannot be. */
export function tappedWith(question: Question, answer: QueuedAnswer, now: number): Question | null {
  const tapped = step(question, "tapped", now);
  if (tapped === question) return null;
  const { comment: _, ...rest } = tapped;
  const words = answer.comment ? { comment: answer.comment.text } : {};
  return { ...rest, ...words, tappedIndex: answer.choiceIndex, isRead: true, isAnnounced: true };
}

/** The question after what happened; the same object where the table says that nothing changes. */
export function step(question: Question, happening: Happening, now: number): Question {
  const phase = LIFECYCLE[phaseAt(question, now)][happening];
  if (phase === undefined) return question;
  return { ...question, phase, endedAt: isOver(phase) ? Math.floor(now) : null };
}

export function judge(question: Question, verdict: Verdict, now: number): Question {
  const { choiceIndex, by } = verdict;
  // This device's answer, but not this tap: of two that left it the other one counts.
  const isOtherTap = question.tappedIndex !== null && choiceIndex !== null && choiceIndex !== question.tappedIndex;
  const happening = verdict.happening === "answered_here" && isOtherTap ? "answered" : verdict.happening;
  const judged = step(question, happening, now);
  if (judged === question) return question;
  if (happening === "wrong_number") return { ...judged, tappedIndex: null, triesLeft: verdict.triesLeft ?? 1 };
  if (verdict.reason !== undefined) judged.reason = verdict.reason;
  if (judged.phase === "sent") return { ...judged, choiceIndex: choiceIndex ?? question.tappedIndex, by: null };
  return { ...judged, choiceIndex, by: judged.phase === "answered_elsewhere" ? by : null };
}

/** What waits for a person: the number on the app's icon. An answer on its way is the network's turn. */
export function waitingCount(items: readonly Item[], now: number): number {
  return items.filter((item) =>
    item.type === "interaction" ? phaseAt(item, now) === "open" : item.type === "emergency" && isDemanding(item, now),
  ).length;
}

/** What ends what. */
const ENDINGS = {
  interaction: "interaction.closed",
  ring: "ring.stopped",
  emergency: "emergency.closed",
} as const;

type Ended = keyof typeof ENDINGS;
export type Ending = NoteOf<(typeof ENDINGS)[Ended]>;

export function isEnding(item: Item): item is Ending {
  return (Object.values(ENDINGS) as string[]).includes(item.type);
}

/** Where the store keeps an envelope's other half: what it ends, and what ends it. */
export function relatedKeys({ type, id }: Envelope): { subject: string | null; ending: string | null } {
  const ending = (ENDINGS as Partial<Record<string, Ending["type"]>>)[type];
  const subject = (Object.keys(ENDINGS) as Ended[]).find((ended) => ENDINGS[ended] === type);
  return { subject: subject ? keyOf(subject, id) : null, ending: ending ? keyOf(ending, id) : null };
}

/** What is kept already of an arriving envelope: itself, what it ends, and what ends it. */
export interface Known {
  same: Item | undefined;
  subject: Item | undefined;
  ending: Item | undefined;
  /** Its sender is muted on this phone. */
  isMuted?: boolean;
}

/** Takes one envelope in: returns what to keep and what to tell. A repeat changes nothing, but for a further round. */
export function absorb(envelope: Envelope, known: Known, deviceId: string, now: number): Change[] {
  if (known.same) {
    const again = nextRound(known.same, now);
    return again ? [{ item: again, what: "again" }] : [];
  }
  if (known.isMuted && envelope.type === "interaction") return []; // whatever the server delivers, nothing is shown
  const item = known.isMuted ? muted(itemOf(envelope, now)) : itemOf(envelope, now);
  if (known.ending) {
    // The end overtook it, as a push can overtake the stream.
    return [{ item: quiet(close(item, known.ending, deviceId, now)), what: "changed" }];
  }
  if (item.type === "interaction" && phaseAt(item, now) === "expired") {
    return [{ item: quiet({ ...item, phase: "expired", endedAt: item.payload.expires_at }), what: "changed" }];
  }
  const changes: Change[] = [{ item: isEnding(item) ? quiet(item) : item, what: "came" }];
  if (known.subject) {
    const ended = close(known.subject, item, deviceId, now);
    if (ended !== known.subject) changes.push({ item: ended, what: "changed" });
  }
  return changes;
}

/** It comes without a sound, and rings nobody. */
function muted(item: Item): Item {
  if (isEnding(item)) return item;
  const silenced = isAlarm(item) ? { alarm: { ...NEW_ALARM, isSilenced: true } } : {};
  return { ...item, isMuted: true, ...silenced } as Item;
}

/** Nobody is told of it any more. That a question was missed, the history still has to show. */
function quiet<Of extends Item>(item: Of): Of {
  const isMissed = item.type === "interaction" && item.phase === "expired";
  return { ...item, isAnnounced: true, isRead: !isMissed };
}

/** The same object where the end changes nothing. */
function close(item: Item, ending: Item, deviceId: string, now: number): Item {
  if (isAlarm(item)) return closeAlarm(item, ending, now);
  if (item.type !== "interaction" || ending.type !== "interaction.closed") return item;
  const { status, choice_index, answered_by, answered_by_id, reason } = ending.payload;
  const isHere = status === "answered" && answered_by_id === deviceId;
  const happening = isHere ? "answered_here" : status;
  const why = reason === undefined ? {} : { reason };
  return judge(item, { happening, choiceIndex: choice_index, by: answered_by, ...why }, now);
}

function itemOf(envelope: Envelope, now: number): Item {
  const { id, ts, source } = envelope;
  const kept = { key: keyOf(envelope.type, id), id, ts, source, receivedAt: now, isRead: false, isAnnounced: false };
  if (envelope.type !== "interaction") {
    const isSounding = envelope.type === "ring" || envelope.type === "emergency";
    const alarm = isSounding ? { alarm: NEW_ALARM } : {};
    const seen = envelope.type === "token.changed" ? { isRead: true } : {}; // one's own doing, on another phone
    return { ...kept, ...alarm, ...seen, type: envelope.type, payload: envelope.payload } as Note;
  }
  const life = { phase: "open" as Phase, tappedIndex: null, choiceIndex: null, by: null, endedAt: null };
  return { ...kept, ...life, type: "interaction", payload: envelope.payload };
}
