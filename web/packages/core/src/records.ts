/** The records that a phone keeps: one of each envelope, with what has become of it here. */

import type { Payloads, Source } from "./envelope.ts";
import type { Phase } from "./lifecycle.ts";

interface Kept {
  /** `type:id`: each is shown once, also where it arrives several times, by stream and by push. */
  key: string;
  id: string;
  /** When it was sent and when it arrived, in Unix seconds. */
  ts: number;
  receivedAt: number;
  source: Source;
  isRead: boolean;
  /** A system notification was made of it, or it was on the screen when it came. */
  isAnnounced: boolean;
  /** Of a ring or an emergency, once something happened to it. */
  alarm?: AlarmLife;
  /** Its sender was muted when it came: it makes no sound. */
  isMuted?: true;
  /** When an emergency was heard of again, Unix seconds. */
  lastRoundAt?: number;
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
  /** Why it was cancelled, where the server said so. */
  reason?: string;
  /** The words that went with the tap here; the server keeps them for the asker alone. */
  comment?: string;
  /** How many wrong numbers may still be typed, once one was. */
  triesLeft?: number;
  endedAt: number | null;
}

export type Note = {
  [Type in Exclude<keyof Payloads, "interaction">]: Kept & { type: Type; payload: Payloads[Type] };
}[Exclude<keyof Payloads, "interaction">];
export type NoteOf<Type extends Note["type"]> = Extract<Note, { type: Type }>;

export type Item = Question | Note;

/** One item that came or changed; `again`: a further round of an emergency that nobody has ended. */
export interface Change {
  item: Item;
  what: "came" | "changed" | "again";
}

export type Alarm = NoteOf<"ring"> | NoteOf<"emergency">;

export type AlarmOutcome = "stopped" | "acknowledged" | "cancelled" | "expired";

/** `ending`: the person ended it here, and the server has not said yet that it knows. */
export interface AlarmLife {
  state: "on" | "ending" | "over";
  outcome: AlarmOutcome | null;
  /** The label of the device that ended it, where it was another one. */
  by: string | null;
  /** Quiet on this device alone. */
  isSilenced: boolean;
}
