import { expect, test } from "vitest";
import { countdown, visibleRuns, visibleText } from "../src/index.ts";

test("bidirectional controls are written out by code point", () => {
  expect(visibleText("rm \u202etxt.exe\u202c")).toBe("rm ‹U+202E›txt.exe‹U+202C›");
});

test.each([
  ["zero-width space", "a\u200bb", "a‹U+200B›b"],
  ["soft hyphen", "a\u00adb", "a‹U+00AD›b"],
  ["escape", "\u001b[31m", "‹U+001B›[31m"],
  ["tag characters", "a\u{e0041}", "a‹U+E0041›"],
  ["Hangul filler", "\u3164", "‹U+3164›"],
  ["blank Braille", "\u2800", "‹U+2800›"],
  ["variation selector on a letter", "a\ufe0f", "a‹U+FE0F›"],
  ["line separator", "a\u2028b", "a‹U+2028›b"],
  ["joiner in Latin", "a\u200db", "a‹U+200D›b"],
])("%s is shown", (_name, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each(["👩‍💻 ❤️ 1️⃣ 👍🏽 🇫🇷", "می‌خواهم", "क्‍ष", "שלום 部署", "e\u0301"])("%s stays as it is", (text) => {
  expect(visibleText(text)).toBe(text);
});

test("plain text is one run, and written-out characters are runs of their own", () => {
  expect(visibleRuns("ab\u202ec")).toEqual([
    { text: "ab", isHidden: false },
    { text: "‹U+202E›", isHidden: true },
    { text: "c", isHidden: false },
  ]);
});

test("the countdown rounds up, so 0:00 means over", () => {
  expect(countdown(580.2)).toBe("9:41");
  expect(countdown(3661)).toBe("1:01:01");
  expect(countdown(0.1)).toBe("0:01");
  expect(countdown(-3)).toBe("0:00");
});
