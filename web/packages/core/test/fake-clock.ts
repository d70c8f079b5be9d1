import type { Clock } from "../src/index.ts";

interface Wait {
  due: number;
  resolve: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  #waits: Wait[] = [];

  constructor(now = 1_754_800_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wait(seconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wait = { due: this.#now + seconds, resolve };
      this.#waits.push(wait);
      signal?.addEventListener("abort", () => {
        this.#waits = this.#waits.filter((other) => other !== wait);
        resolve();
      });
    });
  }

  /** Seconds until each wait is over, soonest first. */
  get pending(): number[] {
    return this.#waits.map(({ due }) => due - this.#now).sort((a, b) => a - b);
  }

  async advance(seconds: number): Promise<void> {
    this.#now += seconds;
    const due = this.#waits.filter((wait) => wait.due <= this.#now);
    this.#waits = this.#waits.filter((wait) => wait.due > this.#now);
    for (const wait of due) wait.resolve();
    await settled();
  }
}

/** Lets everything run that needs no time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
