/** The sounds of the app, made here so that nothing has to be loaded: a ring's, over and over, and a question's, once. */

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
    for (const [index, hertz] of NOTES_HERTZ.entries()) {
      play(context, { hertz, after: index * NOTE_SECONDS, seconds: NOTE_SECONDS, volume: 0.9 });
    }
  }
}

/** A question has come: a short double tick. Browsers keep silent until the person has touched the page. */
export function tick(): void {
  vibrate(TICK_VIBRATION_MS);
  const context = new AudioContext();
  for (const after of [0, 2 * TICK_SECONDS]) {
    play(context, { hertz: TICK_HERTZ, after, seconds: TICK_SECONDS, volume: 0.5 });
  }
  setTimeout(() => void context.close(), TICK_OVER_MS);
}

const TICK_HERTZ = 1320;
const TICK_SECONDS = 0.07;
const TICK_VIBRATION_MS = [8, 60, 8];
const TICK_OVER_MS = 1000;

function play(context: AudioContext, note: { hertz: number; after: number; seconds: number; volume: number }): void {
  const start = context.currentTime + note.after;
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  oscillator.type = "triangle";
  oscillator.frequency.value = note.hertz;
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(note.volume, start + Math.min(0.02, note.seconds / 4));
  volume.gain.exponentialRampToValueAtTime(0.001, start + note.seconds);
  oscillator.connect(volume).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + note.seconds);
}

/** Browsers refuse, and complain, until the person has touched the page. */
function vibrate(pattern: number | number[]): void {
  if (navigator.userActivation?.hasBeenActive ?? true) navigator.vibrate?.(pattern);
}
