/** How long to wait before trying again: exponential, with jitter, so that a restarted server is not stampeded. */

export const FIRST_SECONDS = 0.5;
export const MAX_SECONDS = 30;
/** What a `Retry-After` can make of it. */
export const ASKED_MAX_SECONDS = 300;

export class Backoff {
  #failures = 0;
  readonly #random: () => number;

  /** `random` yields numbers from 0 up to, not including, 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Seconds to wait now: doubling from half a second to half a minute, drawn from the upper half of each. */
  nextSeconds(retryAfterSeconds = 0): number {
    const ceiling = Math.min(MAX_SECONDS, FIRST_SECONDS * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
    const drawn = ceiling / 2 + (this.#random() * ceiling) / 2;
    return Math.max(drawn, Math.min(retryAfterSeconds, ASKED_MAX_SECONDS));
  }

  /** Start over: the other end works. */
  reset(): void {
    this.#failures = 0;
  }
}
