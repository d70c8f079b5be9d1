import type { TokenState } from "@reflecto/core";
import { expect, test } from "vitest";
import { isMuted, latestFirst, mutedUntil } from "./tokens.ts";

const NOON = new Date(2026, 11, 1, 12, 0, 0).getTime() / 1000;

test("a sender is muted for as long as was said", () => {
  expect(mutedUntil("quarter", NOON)).toBe(NOON + 900);
  expect(mutedUntil("hour", NOON)).toBe(NOON + 3600);
  expect(mutedUntil("forever", NOON)).toBe("forever");
});

test("until tomorrow is until the next morning, in the last minute of a day too", () => {
  const morning = new Date(2026, 11, 2, 8, 0, 0).getTime() / 1000;
  expect(mutedUntil("tomorrow", NOON)).toBe(morning);
  expect(mutedUntil("tomorrow", new Date(2026, 11, 1, 23, 59).getTime() / 1000)).toBe(morning);
});

test("a time that has passed mutes nobody", () => {
  expect(isMuted(NOON, NOON - 1)).toBe(true);
  expect(isMuted(NOON, NOON)).toBe(false);
  expect(isMuted("forever", NOON)).toBe(true);
  expect(isMuted(null, NOON)).toBe(false);
});

test("whoever sent last is on top; a new one counts from when it was made", () => {
  const token = (id: string, created_at: number, last_used_at: number | null) =>
    ({ id, created_at, last_used_at }) as TokenState;
  const tokens = [token("old", 1, null), token("b", 1, 7), token("a", 1, 7), token("new", 9, null)];
  expect(latestFirst(tokens).map(({ id }) => id)).toEqual(["new", "a", "b", "old"]);
});
