import { expect, test } from "vitest";
import answers from "../../../../tests/vectors/answer.json" with { type: "json" };
import answersV2 from "../../../../tests/vectors/answers-v2.json" with { type: "json" };
import envelopes from "../../../../tests/vectors/envelope.json" with { type: "json" };
import {
  answerMessage,
  answerMessageV2,
  type Bytes,
  canonicalJson,
  commentDigest,
  fromUtf8,
  type Given,
  keysFromSecrets,
  openBlob,
  questionDigest,
  seal,
  toHex,
  utf8,
  verifySignature,
} from "../src/index.ts";

const NO_SEED = new Uint8Array(32);

test.each(envelopes.vectors)("envelope vector $name: both ends derive the key and open the blob", async (vector) => {
  const sender = keysFromSecrets({ box: bytes(vector.sender_secret), signingSeed: NO_SEED });
  const recipient = keysFromSecrets({ box: bytes(vector.recipient_secret), signingSeed: NO_SEED });
  expect(toHex(sender.publicKey)).toBe(vector.sender_public);
  expect(toHex(await sender.sharedKey(bytes(vector.recipient_public)))).toBe(vector.shared_key);
  const key = await recipient.sharedKey(bytes(vector.sender_public));
  expect(toHex(key)).toBe(vector.shared_key);
  expect(fromUtf8(openBlob(key, bytes(vector.blob)))).toBe(vector.plaintext_utf8);
});

test.each(envelopes.vectors)("envelope vector $name: sealing gives the same bytes", (vector) => {
  const blob = seal(bytes(vector.shared_key), utf8(vector.plaintext_utf8), bytes(vector.nonce));
  expect(toHex(blob)).toBe(vector.blob);
});

test.each(answers.vectors)("answer vector $name: the receipt is the same bytes", async (vector) => {
  const { question, choices, choice_index, answered_at } = vector;
  expect(canonicalJson({ choices, question })).toBe(vector.canonical_json);
  expect(await questionDigest({ question, choices })).toBe(vector.digest);
  const message = await answerMessage({ id: vector.id, question, choices }, choice_index, answered_at);
  expect(fromUtf8(message)).toBe(vector.message);
  const keys = keysFromSecrets({ box: NO_SEED, signingSeed: bytes(vector.signing_seed) });
  expect(toHex(keys.signingKey)).toBe(vector.signing_key);
  expect(toHex(await keys.sign(message))).toBe(vector.signature);
  expect(verifySignature(keys.signingKey, message, bytes(vector.signature))).toBe(true);
});

test.each(answersV2.vectors)("answer v2 vector $name: the receipt is the same bytes", async (vector) => {
  const { question, choices, comment, number, roster } = vector;
  const given: Given = vector.given;
  expect(canonicalJson({ choices, question, ...given })).toBe(vector.canonical_json);
  expect(await questionDigest({ question, choices }, given)).toBe(vector.digest);
  const commentSha256 = comment && (await commentDigest(comment.text, comment.salt));
  expect(commentSha256).toBe(comment?.sha256 ?? null);
  const { id, from, digest, choice_index: choiceIndex, answered_at: answeredAt } = vector;
  const message = answerMessageV2({ id, from, digest, choiceIndex, answeredAt, number, commentSha256, roster });
  expect(fromUtf8(message)).toBe(vector.message);
  const keys = keysFromSecrets({ box: NO_SEED, signingSeed: bytes(vector.signing_seed) });
  expect(toHex(await keys.sign(message))).toBe(vector.signature);
  expect(verifySignature(keys.signingKey, message, bytes(vector.signature))).toBe(true);
});

function bytes(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
