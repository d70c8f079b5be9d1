import { expect, test } from "vitest";
import { foldCount, readDiff } from "./diff.ts";

const HEAD = "--- a/x.ts\n+++ b/x.ts\n";

test("each line has its sign and its number, before for what goes, after for what stays or comes", () => {
  const { hunks, added, removed } = readDiff(`${HEAD}@@ -7,2 +9,2 @@ class A\n one\n-two\n+zwei\n`);
  expect(hunks[0]).toMatchObject({
    line: null,
    stretches: [{ lines: [{ text: "--- a/x.ts" }, { text: "+++ b/x.ts" }] }],
  });
  expect(hunks[1]).toMatchObject({ line: 9, heading: "class A" });
  expect(hunks[1]?.stretches.flatMap(({ lines }) => lines)).toEqual([
    { sign: "same", number: 9, text: "one" },
    { sign: "del", number: 8, text: "two" },
    { sign: "add", number: 10, text: "zwei" },
  ]);
  expect([added, removed]).toEqual([1, 1]);
});

test("a removed line that looks like a file's head, or like a place, is a removed line", () => {
  const { hunks } = readDiff("@@ -1,2 +0,0 @@\n--- a/passwd\n-@@ -1 +1 @@\n--- b/next\n");
  expect(hunks).toHaveLength(1);
  expect(hunks[0]?.stretches.flatMap(({ lines }) => lines).map(({ sign, text }) => [sign, text])).toEqual([
    ["del", "-- a/passwd"],
    ["del", "@@ -1 +1 @@"],
    ["note", "--- b/next"],
  ]);
});

test("of 24 equal lines nothing is folded; of 25 all but the first six and the last three", () => {
  const of = (count: number) => readDiff(`@@ -0,0 +1,${count} @@\n${"+x\n".repeat(count)}`);
  expect(foldCount(of(24))).toBe(0);
  expect(of(25).hunks[0]?.stretches.map(({ lines, isFolded }) => [lines.length, isFolded])).toEqual([
    [6, false],
    [16, true],
    [3, false],
  ]);
});

test("no line is lost, whatever the text is", () => {
  const text = "not a diff\n\n+at all\n@@ nonsense @@\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file";
  const lines = readDiff(text).hunks.flatMap(({ stretches }) => stretches.flatMap((stretch) => stretch.lines));
  expect(lines).toHaveLength(text.split("\n").length - 1); // the heading of a place is told above it
});
