/** What is inside a wire blob. Source: protocol.md "Keys and envelopes". */

import { openBlob } from "./blob.ts";
import { type Bytes, fromUtf8 } from "./bytes.ts";
import { givenOf } from "./details.ts";
import { anyLink, webLink } from "./links.ts";
import type { Given } from "./receipt.ts";

/** Who sent it: a sender token's label, or the server itself. */
export interface Source {
  token?: string;
  server?: string;
  /** Which token it was, whatever its name is now; and the colour that its owner gave it. */
  token_id?: string;
  colour?: string;
}

export type Priority = "min" | "low" | "default" | "high" | "urgent";

/** Until when a sender is muted: Unix seconds, or for good. */
export type MutedUntil = number | "forever";

export interface Action {
  label: string;
  url: string;
}

export interface Image {
  media_type: string;
  /** Base64. */
  data: string;
}

/** What there is to read. */
export interface Body {
  message: string;
  title: string | null;
  url: string | null;
  url_title: string | null;
  /** `message` has the tags of `rich-text.ts`. */
  html: boolean;
  monospace: boolean;
  /** The time to show in place of the arrival's, Unix seconds. */
  timestamp: number | null;
  image: Image | null;
  /** The sender's name for a sound; `none` is silent. */
  sound: string | null;
}

export interface Payloads {
  /** `given`: what was asked with it and is signed over, as `details.ts` reads it. Absent where there is nothing. */
  interaction: { question: string; choices: string[]; expires_at: number; given?: Given };
  "interaction.closed": {
    status: "answered" | "cancelled" | "expired";
    choice_index: number | null;
    answered_by: string | null;
    answered_by_id: string | null;
    /** Of a cancelled one: `withdrawn`, `dismissed`, `wrong_number` and what else a server says. */
    reason?: string;
  };
  "token.created": { id: string; label: string; token: string };
  /** What another phone of the owner, `by`, has changed of a sender. */
  "token.changed": {
    token_id: string;
    by: string;
    by_id: string;
    label?: string;
    colour?: string;
    muted_until?: MutedUntil | null;
  };
  notification: Body & {
    priority: Priority;
    tags: string[];
    actions: Action[];
    markdown: boolean;
    /** Shown no longer from then on, Unix seconds. */
    delete_at: number | null;
  };
  document: { filename: string; content: string; title: string | null };
  ring: { duration: number; message: string | null; expires_at: number };
  "ring.stopped": { by: string | null };
  /** Sounds at once and every `retry` seconds until it is closed, or until `expires_at`. */
  emergency: Body & { receipt: string; retry: number; expires_at: number };
  "emergency.closed": { status: "acknowledged" | "cancelled" | "expired"; by: string | null };
  reminder: { message: string; title: string | null; at: number; late: boolean };
}

export type EnvelopeType = keyof Payloads;

/** One message of a known type; `ts` is Unix seconds. */
export type Envelope = {
  [Type in EnvelopeType]: { type: Type; id: string; ts: number; source: Source; payload: Payloads[Type] };
}[EnvelopeType];

const SECONDS_MAX = 8.64e12; // ECMA-262, "Time Values and Time Range"
/** Nothing that a browser runs: SVG is a document. */
const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Of an emergency; the server allows no less than 30. */
const RETRY_MIN_SECONDS = 10;
const PRIORITIES: readonly string[] = ["min", "low", "default", "high", "urgent"];

/** The plaintext is not an envelope this app can show. */
export class BadEnvelopeError extends Error {}

/** Opens a blob under the key shared with its sender. Throws BadBlobError, BadEnvelopeError. */
export function openEnvelope(key: Bytes, blob: Bytes): Envelope {
  return readEnvelope(fromUtf8(openBlob(key, blob)));
}

/** Reads an envelope, and fills in what may be left out. Throws BadEnvelopeError for a needed field that is wrong. */
export function readEnvelope(json: string): Envelope {
  const outer = record(parse(json));
  const type = text(outer["type"], "type");
  const read = READERS[type as EnvelopeType] as ((payload: Fields) => Payloads[EnvelopeType]) | undefined;
  if (!Object.hasOwn(READERS, type) || !read) throw new BadEnvelopeError(`unknown type ${type}`);
  const source = record(outer["source"] ?? {});
  return {
    type,
    id: text(outer["id"], "id"),
    ts: number(outer["ts"], "ts"),
    source: {
      ...optional("token", source["token"]),
      ...optional("server", source["server"]),
      ...optional("token_id", source["token_id"]),
      ...optional("colour", source["colour"]),
    },
    payload: read(record(outer["payload"])),
  } as Envelope;
}

type Fields = Record<string, unknown>;

const READERS: { [Type in EnvelopeType]: (payload: Fields) => Payloads[Type] } = {
  interaction: (payload) => {
    const choices = list(payload["choices"]).map((choice) => text(choice, "choice"));
    if (choices.length < 2) throw new BadEnvelopeError("choices");
    const given = givenOf(payload);
    return {
      question: text(payload["question"], "question"),
      choices,
      expires_at: number(payload["expires_at"], "expires_at"),
      ...(given ? { given } : {}),
    };
  },
  "interaction.closed": (payload) => ({
    status: payload["status"] === "answered" || payload["status"] === "expired" ? payload["status"] : "cancelled",
    choice_index: typeof payload["choice_index"] === "number" ? payload["choice_index"] : null,
    answered_by: textOrNull(payload["answered_by"]),
    answered_by_id: textOrNull(payload["answered_by_id"]),
    ...optional("reason", payload["reason"]),
  }),
  "token.created": (payload) => ({
    id: text(payload["id"], "id"),
    label: text(payload["label"], "label"),
    token: text(payload["token"], "token"),
  }),
  "token.changed": (payload) => ({
    token_id: text(payload["token_id"], "token_id"),
    by: text(payload["by"], "by"),
    by_id: text(payload["by_id"], "by_id"),
    ...optional("label", payload["label"]),
    ...optional("colour", payload["colour"]),
    ...("muted_until" in payload ? { muted_until: readUntil(payload["muted_until"]) } : {}),
  }),
  notification: (payload) => ({
    ...readBody(payload),
    priority: PRIORITIES.includes(String(payload["priority"])) ? (payload["priority"] as Priority) : "default",
    tags: list(payload["tags"]).filter((tag) => typeof tag === "string"),
    actions: list(payload["actions"]).flatMap(readAction),
    markdown: payload["markdown"] === true,
    delete_at: numberOrNull(payload["delete_at"]),
  }),
  document: (payload) => ({
    filename: text(payload["filename"], "filename"),
    content: text(payload["content"], "content"),
    title: textOrNull(payload["title"]),
  }),
  ring: (payload) => ({
    duration: number(payload["duration"], "duration"),
    message: textOrNull(payload["message"]),
    expires_at: number(payload["expires_at"], "expires_at"),
  }),
  "ring.stopped": (payload) => ({ by: textOrNull(payload["by"]) }),
  emergency: (payload) => ({
    ...readBody(payload),
    receipt: text(payload["receipt"], "receipt"),
    retry: Math.max(RETRY_MIN_SECONDS, number(payload["retry"], "retry")),
    expires_at: number(payload["expires_at"], "expires_at"),
  }),
  "emergency.closed": (payload) => ({
    status: payload["status"] === "acknowledged" || payload["status"] === "expired" ? payload["status"] : "cancelled",
    by: textOrNull(payload["by"]),
  }),
  reminder: (payload) => ({
    message: text(payload["message"], "message"),
    title: textOrNull(payload["title"]),
    at: number(payload["at"], "at"),
    late: payload["late"] === true,
  }),
};

function readBody(payload: Fields): Body {
  return {
    message: text(payload["message"], "message"),
    title: textOrNull(payload["title"]),
    url: anyLink(payload["url"]),
    url_title: textOrNull(payload["url_title"]),
    html: payload["html"] === true,
    monospace: payload["monospace"] === true,
    timestamp: numberOrNull(payload["timestamp"]),
    image: readImage(payload["image"]),
    sound: textOrNull(payload["sound"]),
  };
}

/** Null for what is no picture: a message is not lost for that. */
function readImage(value: unknown): Image | null {
  const { media_type, data } = (typeof value === "object" && value !== null ? value : {}) as Fields;
  if (!IMAGE_TYPES.includes(String(media_type)) || typeof data !== "string") return null;
  return /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? { media_type: String(media_type), data } : null;
}

/** A word that this app does not know mutes for good rather than not at all. */
function readUntil(value: unknown): MutedUntil | null {
  return value === null || typeof value === "number" ? numberOrNull(value) : "forever";
}

function readAction(value: unknown): Action[] {
  const fields = record(value);
  const url = webLink(fields["url"]);
  return url === null ? [] : [{ label: text(fields["label"], "label"), url }];
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new BadEnvelopeError("not JSON");
  }
}

function record(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BadEnvelopeError("not an object");
  return value as Fields;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown, name: string): string {
  if (typeof value !== "string") throw new BadEnvelopeError(name);
  return value;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A moment in Unix seconds, or a span: beyond what a Date holds, showing it would throw. */
function number(value: unknown, name: string): number {
  if (typeof value !== "number" || !(Math.abs(value) <= SECONDS_MAX)) throw new BadEnvelopeError(name);
  return value;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function optional<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  return typeof value === "string" ? ({ [name]: value } as Record<Name, string>) : {};
}
