/**
 * The answer that wants a long press: a second, by finger or with Space or Enter held. Who cannot hold, with a screen reader
 * or a switch, presses twice: the second press confirms.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { type Appearance, isTooSoon } from "../tap-guard.ts";

const HOLD_MS = 1000;

export function HoldButton(props: {
  label: string;
  question: string;
  isBusy: boolean;
  appearance: Appearance;
  onHeld: () => void;
  children: ComponentChildren;
}) {
  const [isHeld, setHeld] = useState(false);
  const [isArmed, arm] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stop = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const start = (event: Event) => {
    if (props.isBusy || timer.current !== undefined) return;
    if (isTooSoon(props.appearance, { timeStamp: event.timeStamp, detail: 0 })) return;
    setHeld(true);
    timer.current = setTimeout(() => {
      stop();
      props.onHeld();
    }, HOLD_MS);
  };
  const isKey = ({ key }: KeyboardEvent) => key === " " || key === "Enter";
  const press = (event: MouseEvent) => {
    // A finger's or a key's press was timed already; without either one it came from a screen reader, or from the key 1.
    if (event.detail > 0 || props.isBusy || isTooSoon(props.appearance, event)) return;
    if (isArmed) props.onHeld();
    arm(true);
  };
  const name = isArmed ? t("answer.hold.really", { choice: props.label }) : props.label;
  return (
    <button
      type="button"
      class={isHeld ? "choice hold held" : "choice hold"}
      data-choice="1"
      aria-label={`${name} ${t("answer.hold")}: ${props.question}`}
      aria-disabled={props.isBusy}
      onPointerDown={start}
      onPointerUp={stop}
      onPointerLeave={stop}
      onPointerCancel={stop}
      onBlur={() => {
        stop();
        arm(false);
      }}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (!isKey(event)) return;
        event.preventDefault(); // or it would count as a press as well
        if (!event.repeat) start(event);
      }}
      onKeyUp={(event) => {
        if (!isKey(event)) return;
        event.preventDefault();
        stop();
      }}
      onClick={press}
    >
      <span class="hold-fill" aria-hidden="true" />
      <span class="hold-label">
        {isArmed ? name : props.children} <small>{t("answer.hold")}</small>
      </span>
    </button>
  );
}
