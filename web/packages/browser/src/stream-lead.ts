/**
 * Of all pages this app has open in a browser one holds the stream; the others hear from it what came.
 * The server keeps four streams of a device, and a fifth tab would end the first one's.
 */

interface Turn {
  isHeld: boolean;
  /** Taken rather than waited for: it is about to be held. */
  isTaken: boolean;
  leave: AbortController;
}

export class StreamLead {
  readonly #lock: string;
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #stop: AbortSignal;
  #turn: Turn | null = null;

  /** `lock` is its name at the whole origin. `work` runs while this page leads, until it ends by itself or its signal is aborted. */
  constructor(lock: string, work: (signal: AbortSignal) => Promise<void>, stop: AbortSignal) {
    this.#lock = lock;
    this.#work = work;
    this.#stop = stop;
  }

  get isHeld(): boolean {
    return this.#turn?.isHeld ?? false;
  }

  /** Waits for its turn, or takes it: a page that is looked at must not wait for one that its system has frozen. */
  seek({ take }: { take: boolean }): void {
    if (this.isHeld || this.#stop.aborted || (this.#turn && (this.#turn.isTaken || !take))) return;
    this.#turn?.leave.abort();
    void this.#lead(take);
  }

  async #lead(take: boolean): Promise<void> {
    const turn: Turn = { isHeld: false, isTaken: take, leave: new AbortController() };
    this.#turn = turn;
    const leave = () => turn.leave.abort();
    this.#stop.addEventListener("abort", leave);
    const isDone = await this.#hold(take, turn);
    this.#stop.removeEventListener("abort", leave);
    turn.leave.abort(); // taken by another page: the work here may still be running
    if (this.#turn !== turn) return;
    this.#turn = null;
    if (!isDone) this.seek({ take: false });
  }

  /** False where the lead was taken away or not waited for. */
  async #hold(take: boolean, turn: Turn): Promise<boolean> {
    const work = async () => {
      turn.isHeld = true;
      await this.#work(turn.leave.signal);
    };
    const options = take ? { steal: true } : { signal: turn.leave.signal };
    try {
      await navigator.locks.request(this.#lock, options, work);
      return true;
    } catch {
      return false;
    } finally {
      turn.isHeld = false;
    }
  }
}
