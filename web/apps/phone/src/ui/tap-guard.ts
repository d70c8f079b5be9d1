/** Against taps that were meant for what was there a moment before. */

import { useEffect, useRef } from "preact/hooks";

/** A person needs longer than this to read anything; a tap that comes sooner was aimed at something else. */
export const GUARD_MS = 400;

/** When the component last came onto the screen: drawn first, or with the page brought back. */
export interface Appearance {
  at: number;
}

export function useAppearance(): Appearance {
  const appearance = useRef<Appearance>({ at: performance.now() });
  useEffect(() => {
    const note = () => {
      if (document.visibilityState === "visible") appearance.current.at = performance.now();
    };
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
  return appearance.current;
}

/** `event` is a click: too soon after the appearance, or the second of a double tap. */
export function isTooSoon(appearance: Appearance, event: { timeStamp: number; detail: number }): boolean {
  return event.timeStamp - appearance.at < GUARD_MS || event.detail > 1;
}
