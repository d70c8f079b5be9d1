/** What the phone remembers. Each method is one atomic step, so that a page and its worker can share a store. */

import type { Envelope } from "./envelope.ts";
import type { Verdict } from "./lifecycle.ts";
import type { AlarmLife, Change, Item, Question } from "./records.ts";
import type { Comment } from "./wire/types.ts";

/** Who this device is to its server. Its keys are kept elsewhere, see DeviceKeys. */
export interface Device {
  ownerId: string;
  deviceId: string;
  deviceToken: string;
  label: string;
  /** A desktop is shown things, and answers nothing. Absent on phones enrolled before there were others. */
  deviceClass?: "phone" | "desktop";
  /** The server's X25519 key in base64. */
  serverKey: string;
}

/** A tap that the server has not confirmed yet. */
export interface QueuedAnswer {
  id: string;
  choiceIndex: number;
  /** Unix seconds of the tap. */
  answeredAt: number;
  /** Base64. */
  signature: string;
  /** Of a question that brought more than its words and answers: the version of what was signed. */
  v?: 2;
  /** The two digits that were typed. */
  number?: string;
  /** Its `salt` keeps the text from being guessed by what is signed. */
  comment?: Comment;
}

/** Where the queue on the server has been read up to. */
export interface Reach {
  seq: number;
  /** The server went back behind the cursor (it was restored from a backup): believe it. */
  isRewound: boolean;
}

export interface Store {
  device(): Promise<Device | null>;
  cursor(): Promise<number>;
  /** Keeps what is new and moves the cursor, in one step. Without `reach` the cursor stays. */
  takeIn(envelopes: readonly Envelope[], reach: Reach | null, now: number): Promise<Change[]>;
  items(): Promise<Item[]>;
  question(id: string): Promise<Question | null>;
  /** Queues the answer and marks the question, if it can still be answered; null where it cannot. */
  tap(answer: QueuedAnswer, now: number): Promise<Question | null>;
  queuedAnswers(): Promise<QueuedAnswer[]>;
  /** Applies the server's word and takes the answer off the queue. Returns the question if it changed. */
  judge(id: string, verdict: Verdict, now: number): Promise<Question | null>;
  /** Changes a ring's or an emergency's life, unless `change` returns null. Returns the item if it changed. */
  changeAlarm(key: string, change: (life: AlarmLife) => AlarmLife | null, now: number): Promise<Item | null>;
  /** True for exactly one caller: that one tells the person. */
  claimAnnouncement(key: string): Promise<boolean>;
}
