/** What became of the question in focus, in the place of its buttons. */

import type { Ref } from "preact";
import type { Outcome } from "../../items/outcome.ts";
import { Icon, type IconName } from "../icons.tsx";

const ICONS: Readonly<Record<Outcome["tone"], IconName>> = {
  done: "check",
  waiting: "late",
  late: "late",
  over: "over",
};

/** Always there, so that a screen reader hears of it. */
export function Result({ outcome, element }: { outcome: Outcome | null; element: Ref<HTMLDivElement> }) {
  return (
    <div ref={element} tabIndex={-1} class={outcome ? `result ${outcome.tone}` : "result none"} role="status">
      {outcome && (
        <>
          <Icon name={ICONS[outcome.tone]} />
          <span>{outcome.text}</span>
        </>
      )}
    </div>
  );
}
