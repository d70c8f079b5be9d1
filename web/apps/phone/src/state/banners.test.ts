import { expect, test } from "vitest";
import { bannersOf, OFFLINE_GRACE_SECONDS, type Situation } from "./banners.ts";

const NOW = 1000;
const WELL: Situation = {
  push: "on",
  trouble: null,
  isEvictable: false,
  isOutdated: false,
  isAnswering: false,
  now: NOW,
};
const bannersIn = (changes: Partial<Situation>) => bannersOf({ ...WELL, ...changes });

test("where all is well nothing is said", () => {
  expect(bannersOf(WELL)).toEqual([]);
});

test("the worst comes first: what keeps a tap from its way now", () => {
  const trouble = { kind: "waiting", since: 0 } as const;
  const all = bannersIn({ push: "blocked", trouble, isEvictable: true, isOutdated: true });
  expect(all).toEqual(["offline", "blocked", "evictable", "outdated"]);
});

test("a line that is lost for a moment makes no banner", () => {
  const lostFor = (seconds: number) => bannersIn({ trouble: { kind: "waiting", since: NOW - seconds } });
  expect(lostFor(OFFLINE_GRACE_SECONDS - 1)).toEqual([]);
  expect(lostFor(OFFLINE_GRACE_SECONDS)).toEqual(["offline"]);
});

test("somebody who answers in the server's place is said at once", () => {
  expect(bannersIn({ trouble: { kind: "foreign", since: NOW } })).toEqual(["foreign"]);
});

test("over the questions stands only what keeps them or their answers from their way, or is good to know", () => {
  expect(bannersIn({ push: "blocked", isEvictable: true, isAnswering: true })).toEqual(["blocked"]);
});
