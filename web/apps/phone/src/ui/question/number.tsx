/** Two digits, which stand where the asker runs: own keys at the thumb, so that no keyboard covers the question. */

import { type Question, visibleText } from "@reflecto/core";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { Icon } from "../icons.tsx";
import { type Appearance, isTooSoon } from "../tap-guard.ts";
import { Visible } from "../text.tsx";
import { Key } from "./answers.tsx";

const DIGITS = 2;
/** As in number.css: no room for own keys, so the system's take their place. */
const NO_PAD = "(max-width: 20rem)";
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];

export interface NumberEntryProps {
  question: Question;
  /** Where the asker says that it runs. */
  host: string | null;
  /** What was typed and is not the number. */
  wrong: string | null;
  isBusy: boolean;
  appearance: Appearance;
  onAnswer: (index: number, number: string | null) => void;
}

export function NumberEntry({ question, host, wrong, isBusy, appearance, onAnswer }: NumberEntryProps) {
  const [digits, setDigits] = useState("");
  const { choices } = question.payload;
  const isComplete = digits.length === DIGITS;
  const approve = (typed: string) => {
    if (typed.length === DIGITS && !isBusy) onAnswer(0, typed);
  };
  return (
    <>
      <div class="number">
        {wrong === null ? (
          <p id="number-hint">
            <strong>{t("number.type")}</strong>
            <br />
            {host ? t("number.look.host", { host: visibleText(host) }) : t("number.look")}
          </p>
        ) : (
          <p id="number-hint" class="wrong" role="alert">
            <strong>{t("number.wrong", { number: wrong })}</strong>
            <br />
            {t("number.last")}
          </p>
        )}
        <Digits digits={digits} isWrong={wrong !== null && digits === ""} onDigits={setDigits} onEnter={approve} />
      </div>
      <div class="choices" role="group" aria-label={t("answer.group")}>
        {choices.map((label, index) => (
          <button
            key={label}
            type="button"
            class={index > 1 ? "choice wide" : "choice"}
            aria-disabled={isBusy || (index === 0 && !isComplete)}
            onClick={(event) => {
              if (index === 0) approve(digits);
              else if (!isBusy && !isTooSoon(appearance, event)) onAnswer(index, null);
            }}
          >
            <span dir="auto">
              <Visible text={label} keepLines={false} />
            </span>
            {index === 0 && <Key name="↵" />}
          </button>
        ))}
      </div>
    </>
  );
}

interface DigitsProps {
  digits: string;
  isWrong: boolean;
  onDigits: (digits: string) => void;
  onEnter: (digits: string) => void;
}

function Digits({ digits, isWrong, onDigits, onEnter }: DigitsProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const take = (typed: string) => onDigits(digitsOf(typed));
  return (
    <>
      <div class={isWrong ? "digit-boxes wrong" : "digit-boxes"}>
        <input
          ref={input}
          type="text"
          inputMode={matchMedia(NO_PAD).matches ? "numeric" : "none"}
          autocomplete="off"
          maxLength={DIGITS}
          aria-label={t("number.label")}
          aria-describedby="number-hint"
          aria-invalid={isWrong}
          value={digits}
          onInput={(event) => take(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && onEnter(digitsOf(event.currentTarget.value))} // drawn or not yet
        />
        {[0, 1].map((place) => (
          <span key={place} class={place === digits.length ? "digit now" : "digit"} aria-hidden="true">
            {digits.charAt(place)}
          </span>
        ))}
      </div>
      {/* A key that took the focus would leave a keyboard typing into nothing. */}
      <div class="pad" onPointerDown={(event) => event.preventDefault()}>
        {KEYS.map((key) => (
          <button key={key} type="button" class={`key-${key}`} onClick={() => take(digits + key)}>
            {key}
          </button>
        ))}
        <button type="button" class="plain" aria-label={t("number.erase")} onClick={() => take(digits.slice(0, -1))}>
          <Icon name="erase" />
        </button>
      </div>
    </>
  );
}

function digitsOf(typed: string): string {
  return typed.replace(/[^0-9]/g, "").slice(0, DIGITS);
}
