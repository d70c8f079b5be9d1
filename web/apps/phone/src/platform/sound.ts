/** The sound of a ring: two notes, over and over, made here so that nothing has to be loaded. */

const NOTES_HERTZ = [880, 1174.7] as const;
const NOTE_SECONDS = 0.28;
const PAUSE_SECONDS = 0.5;
const VIBRATION_MS = [500, 200, 500, 400];

export class Ringer {
  #context: AudioContext | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Browsers keep silent until the person has touched the page; then this resolves to false. */
  async start(): Promise<boolean> {
    this.stop();
    const context = new AudioContext();
    this.#context = context;
    const beat = () => {
      this.#playOnce(context);
      vibrate(VIBRATION_MS);
    };
    beat();
    this.#timer = setInterval(beat, (NOTES_HERTZ.length * NOTE_SECONDS + PAUSE_SECONDS) * 1000);
    await Promise.race([context.resume(), new Promise((resolve) => setTimeout(resolve, 300))]);
    return context.state === "running";
  }

  stop(): void {
    clearInterval(this.#timer);
    vibrate(0);
    void this.#context?.close();
    this.#context = null;
  }

  #playOnce(context: AudioContext): void {
    NOTES_HERTZ.forEach((hertz, index) => {
      const start = context.currentTime + index * NOTE_SECONDS;
      const oscillator = context.createOscillator();
      const volume = context.createGain();
      oscillator.type = "triangle";
      oscillator.frequency.value = hertz;
      volume.gain.setValueAtTime(0, start);
      volume.gain.linearRampToValueAtTime(0.9, start + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.001, start + NOTE_SECONDS);
      oscillator.connect(volume).connect(context.destination);
      oscillator.start(start);
      oscillator.stop(start + NOTE_SECONDS);
    });
  }
}

/** Browsers refuse, and complain, until the person has touched the page. */
function vibrate(pattern: number | number[]): void {
  if (navigator.userActivation?.hasBeenActive ?? true) navigator.vibrate?.(pattern);
}
