/** The buttons of the answers. A pair stands in the same place in every question; a third, longer one above it. */

import { briefOf, type Question, visibleText } from "@reflecto/core";
import { t } from "../../i18n/index.ts";
import { isFilled, shapeOf } from "../../items/answering.ts";
import { type Appearance, isTooSoon } from "../tap-guard.ts";
import { Visible } from "../text.tsx";
import { HoldButton } from "./hold.tsx";

export interface AnswersProps {
  question: Question;
  isBusy: boolean;
  appearance: Appearance;
  onAnswer: (index: number) => void;
}

export function Answers(props: AnswersProps) {
  const { choices } = props.question.payload;
  const shape = shapeOf(choices);
  const order = shape === "pair-and-more" ? [2, 0, 1] : choices.keys();
  return (
    <div class={shape === "list" ? "choices list" : "choices"} role="group" aria-label={t("answer.group")}>
      {Array.from(order, (index) => (
        <Answer key={index} index={index} isWide={shape === "pair-and-more" && index === 2} {...props} />
      ))}
    </div>
  );
}

function Answer({ question, index, isWide, isBusy, appearance, onAnswer }: AnswersProps & AnswerPlace) {
  const label = question.payload.choices[index] ?? "";
  const text = visibleText(question.payload.question);
  const kinds = ["choice", isWide && "wide", index === 0 && isFilled(question) && "filled"];
  const words = (
    <span dir="auto">
      <Visible text={label} keepLines={false} />
    </span>
  );
  if (index === 0 && briefOf(question.payload.given).confirm === "hold") {
    return (
      <HoldButton
        label={visibleText(label)}
        question={text}
        isBusy={isBusy}
        appearance={appearance}
        onHeld={() => onAnswer(0)}
      >
        {words}
      </HoldButton>
    );
  }
  return (
    <button
      type="button"
      class={kinds.filter(Boolean).join(" ")}
      data-choice={index + 1}
      aria-label={`${visibleText(label)}: ${text}`}
      aria-disabled={isBusy}
      onClick={(event) => !isBusy && !isTooSoon(appearance, event) && onAnswer(index)}
    >
      {words}
      <Key name={index + 1} />
    </button>
  );
}

interface AnswerPlace {
  index: number;
  isWide: boolean;
}

/** The key that does the same, where there is a keyboard. */
export function Key({ name }: { name: string | number }) {
  return <span class="key" data-key={name} aria-hidden="true" />;
}
