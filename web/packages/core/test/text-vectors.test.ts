import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { seenOf, visibleText } from "../src/index.ts";

interface Vectors {
  visible: { why: string; text: string; shown: string; name?: string }[];
  seen: { why: string; text: string; seen: string }[];
  equal_labels: { why: string; a: string; b: string; equal: boolean }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../../../tests/vectors/text.json", import.meta.url), "utf8"),
);

test.each(vectors.visible)("visible: $why", ({ text, shown, name = shown }) => {
  expect(visibleText(text)).toBe(shown);
  expect(visibleText(text, { keepLines: false })).toBe(name);
});

test.each(vectors.seen)("seen: $why", ({ text, seen }) => {
  expect(seenOf(text)).toBe(seen);
});

test.each(vectors.equal_labels)("labels: $why", ({ a, b, equal }) => {
  expect(seenOf(a) === seenOf(b)).toBe(equal);
});
