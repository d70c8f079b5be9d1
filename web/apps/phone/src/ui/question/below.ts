/** How the dock stands to the sheet: what is below the edge and was not on the screen yet, and whether there is room for both. */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Of what details are set in. */
const LINE_PX = 21;
/** Not with every frame: a long diff scrolls on a slow phone too. */
const LOOK_MS = 300;
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!stop.signal.aborted) look();
      }, LOOK_MS);
    };
    for (const kind of ["scroll", "resize"]) addEventListener(kind, later, { passive: true, signal: stop.signal });
    look();
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [opened]);
  return lines;
}

/** Of the question, so much stays in view above the dock. */
const ROOM_PX = 150;

/** Whether the dock, with the tabs below it, would leave the question no room: with large text, or on a low screen. */
export function useTall(dock: RefObject<HTMLElement | null>): boolean {
  const [isTall, setTall] = useState(false);
  useEffect(() => {
    const look = () => {
      const tabs = document.querySelector(".tabs");
      const isBelow = tabs !== null && getComputedStyle(tabs).position === "fixed";
      const taken = (dock.current?.offsetHeight ?? 0) + (isBelow ? tabs.clientHeight : 0);
      setTall(innerHeight - taken < ROOM_PX);
    };
    const sizes = new ResizeObserver(look);
    if (dock.current) sizes.observe(dock.current);
    addEventListener("resize", look);
    return () => {
      sizes.disconnect();
      removeEventListener("resize", look);
    };
  }, []);
  return isTall;
}
