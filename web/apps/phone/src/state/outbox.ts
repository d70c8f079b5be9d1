/** Sends what was tapped, again and again, until the server has said what became of it. */

import type { Session } from "@reflecto/browser";
import { Backoff } from "@reflecto/core";

/** Who sends, at the time of asking. */
export interface Sender {
  readonly session: Session | null;
  /** Aborted when the session ends. */
  readonly stopped: AbortSignal;
}

export class Outbox {
  /** What kept the last answers here, while some wait. */
  unsent: "waiting" | "foreign" | null = null;
  readonly #sender: Sender;
  readonly #sendLater: () => void;
  readonly #onChange: () => void;
  readonly #backoff = new Backoff(Math.random);
  #isRetrying = false;

  /** `sendLater` is for when this page may be closed before the server can be reached. */
  constructor(sender: Sender, sendLater: () => void, onChange: () => void) {
    this.#sender = sender;
    this.#sendLater = sendLater;
    this.#onChange = onChange;
  }

  async send(): Promise<void> {
    const outcome = await this.#sender.session?.answers.flush();
    this.unsent = outcome?.state === "retry" ? (outcome.isForeign ? "foreign" : "waiting") : null;
    this.#onChange();
    if (outcome?.state !== "retry") {
      this.#backoff.reset();
      return;
    }
    this.#sendLater();
    const { session, stopped } = this.#sender;
    if (this.#isRetrying || !session) return;
    this.#isRetrying = true;
    await session.clock.wait(this.#backoff.nextSeconds(outcome.retryAfterSeconds), stopped);
    this.#isRetrying = false;
    if (!this.#sender.stopped.aborted) void this.send();
  }
}
