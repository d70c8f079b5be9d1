/** The keys of a keyboard: 1 to 4 press the answers, J and K go to the next and the previous question. */

import { useEffect } from "preact/hooks";

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1 };

export function useQuestionKeys(onStep: (step: 1 | -1) => void): void {
  useEffect(() => {
    const take = (event: KeyboardEvent) => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return;
      const step = STEPS[event.key.toLowerCase()];
      if (step) onStep(step);
      // Pressed as by hand, so that whatever keeps a hand from answering keeps a key from it too.
      else if (/^[1-4]$/.test(event.key)) document.querySelector<HTMLElement>(`[data-choice="${event.key}"]`)?.click();
    };
    addEventListener("keydown", take);
    return () => removeEventListener("keydown", take);
  });
}

/** Somebody types, or a dialog is open. */
function isTaken(target: EventTarget | null): boolean {
  const isTyping = target instanceof Element && target.closest("input, textarea, select") !== null;
  return isTyping || document.querySelector("dialog[open], [role=alertdialog]") !== null;
}
