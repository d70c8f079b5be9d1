/** Time is an argument: nothing in this package reads it anywhere else. */

export interface Clock {
  /** Unix seconds, with a fraction; the server's time as far as it is known. */
  now(): number;
  /** Resolves after so many seconds, or as soon as `signal` is aborted. Never rejects. */
  wait(seconds: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock, put right by what the server's `Date` header said. */
export class SystemClock implements Clock {
  skewSeconds: number;

  constructor(skewSeconds = 0) {
    this.skewSeconds = skewSeconds;
  }

  now(): number {
    return Date.now() / 1000 + this.skewSeconds;
  }

  wait(seconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, seconds * 1000));
      signal?.addEventListener("abort", done);
    });
  }
}
