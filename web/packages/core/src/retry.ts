/** Repeats what failed in passing. */

import { Backoff } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { RefusedError, UnreachableError } from "./refusals.ts";

/** It was called off. */
export class Cancelled extends Error {}

/** Does `work` until it succeeds or fails for good, `attemptsMax` times at most. Throws Cancelled when aborted. */
export async function withRetries<T>(
  work: () => Promise<T>,
  clock: Clock,
  signal: AbortSignal,
  attemptsMax = Number.POSITIVE_INFINITY,
): Promise<T> {
  const backoff = new Backoff(Math.random);
  for (let attempt = 1; ; attempt += 1) {
    if (signal.aborted) throw new Cancelled();
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw new Cancelled();
      const isPassing = error instanceof UnreachableError || (error instanceof RefusedError && error.isPassing);
      if (!isPassing || attempt >= attemptsMax) throw error;
      await clock.wait(backoff.nextSeconds(error.retryAfterSeconds), signal);
    }
  }
}
