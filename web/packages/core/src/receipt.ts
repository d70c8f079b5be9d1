/** What a phone signs when its owner taps. Source: protocol.md "Answering". */

import { type Bytes, toHex, utf8 } from "./bytes.ts";
import { canonicalJson } from "./canonical-json.ts";

/** What was on the screen when the owner tapped. */
export interface Shown {
  id: string;
  question: string;
  choices: readonly string[];
}

/** Hex SHA-256 of the canonical JSON of what was shown. */
export async function questionDigest({ question, choices }: Pick<Shown, "question" | "choices">): Promise<string> {
  const json = utf8(canonicalJson({ choices, question }));
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", json)));
}

/** The bytes to sign. `answeredAt` is Unix seconds. */
export async function answerMessage(shown: Shown, choiceIndex: number, answeredAt: number): Promise<Bytes> {
  const digest = await questionDigest(shown);
  return utf8(`reflecto-answer-v1\n${shown.id}\n${digest}\n${choiceIndex}\n${answeredAt}`);
}
