/** What a phone signs when its owner taps. Source: protocol.md "Answering". */

import { type Bytes, toHex, utf8 } from "./bytes.ts";
import { canonicalJson, type Json } from "./canonical-json.ts";

/** What was on the screen when the owner tapped. */
export interface Shown {
  id: string;
  question: string;
  choices: readonly string[];
}

/** What an asker may give beside question and choices; the phone signs over all that was given, as it was given. */
export type Given = Partial<Record<"details" | "source" | "danger" | "confirm" | "comment", Json>>;

/** What `answerMessageV2` signs. `from`: who sealed the question, a device's id or `server`. */
export interface Signed {
  id: string;
  from: string;
  digest: string;
  choiceIndex: number;
  answeredAt: number;
  number?: string | null;
  commentSha256?: string | null;
  roster?: { version: number; sha256: string } | null;
}

/** Hex SHA-256 of the canonical JSON of what was shown. */
export function questionDigest(
  { question, choices }: Pick<Shown, "question" | "choices">,
  given: Given = {},
): Promise<string> {
  return canonicalSha256({ ...given, choices, question });
}

/** Hex SHA-256 of a comment; `salt` is base64url of 16 bytes, as it is sent. */
export function commentDigest(text: string, salt: string): Promise<string> {
  return canonicalSha256({ salt, text });
}

/** The bytes to sign. `answeredAt` is Unix seconds. */
export async function answerMessage(shown: Shown, choiceIndex: number, answeredAt: number): Promise<Bytes> {
  const digest = await questionDigest(shown);
  return utf8(`reflecto-answer-v1\n${shown.id}\n${digest}\n${choiceIndex}\n${answeredAt}`);
}

/** The bytes to sign where something was given beside question and choices. `answeredAt` is Unix seconds. */
export function answerMessageV2(signed: Signed): Bytes {
  const { id, from, digest, choiceIndex, answeredAt, number, commentSha256, roster } = signed;
  const held = roster ? `${roster.version}.${roster.sha256}` : "-";
  const lines = [id, from, digest, choiceIndex, answeredAt, number ?? "-", commentSha256 ?? "-", held];
  return utf8(["reflecto-answer-v2", ...lines].join("\n"));
}

async function canonicalSha256(value: Json): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(canonicalJson(value)))));
}
