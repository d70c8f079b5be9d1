/** How much of the sheet is below the edge, where its end was not on the screen yet. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Of what details are set in. */
const LINE_PX = 21;
/** What a browser rounds is no line. */
const SLACK_PX = 4;

/**
 * Lines between the top of `dock` and the end of `sheet`; 0 once the end was seen. `opened` counts the folded parts that
 * were opened: what was folded makes the sheet longer, and its end is to be seen again.
 */
export function useLinesBelow(
  sheet: RefObject<HTMLElement | null>,
  dock: RefObject<HTMLElement | null>,
  opened: number,
): number {
  const [lines, setLines] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const look = () => {
      const end = sheet.current?.getBoundingClientRect().bottom ?? 0;
      const hidden = end - (dock.current?.getBoundingClientRect().top ?? end);
      if (hidden <= SLACK_PX) stop.abort();
      setLines(hidden <= SLACK_PX ? 0 : Math.ceil(hidden / LINE_PX));
    };
    const later = () => requestAnimationFrame(() => !stop.signal.aborted && look());
    for (const kind of ["scroll", "resize"]) addEventListener(kind, later, { passive: true, signal: stop.signal });
    look();
    return () => stop.abort();
  }, [opened]);
  return lines;
}
