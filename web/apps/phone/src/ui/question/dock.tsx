/** What is at the thumb: what else waits, the answers, and the way to say more. It is always whole on the screen. */

import { briefOf, type Question, visibleText } from "@reflecto/core";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { obstacleOf } from "../../items/answering.ts";
import { outcomeOf, sourceName } from "../../items/outcome.ts";
import type { Memory } from "../../state/sitting.ts";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { later } from "../later.tsx";
import { useAppearance } from "../tap-guard.ts";
import { Answers } from "./answers.tsx";
import { useLinesBelow, useTall } from "./below.ts";
import { Hint } from "./hint.tsx";
import { NumberEntry } from "./number.tsx";
import { Result } from "./result.tsx";
import { SayWhy } from "./say-why.tsx";
import { WaitingStrip } from "./waiting.tsx";

const More = later(() => import("./more.tsx").then((file) => file.More));

/** How much of what is in view moves on with one press, so that the last lines read are still there. */
const PAGE_SHARE = 0.6;

export interface DockProps {
  question: Question;
  memory: Memory;
  /** What else waits, the one that ends first on top. */
  others: readonly Question[];
  sheet: RefObject<HTMLElement | null>;
  folds: { left: number; opened: number; openAll: () => void };
  onChoose: (id: string) => void;
}

export function Dock({ question, memory, others, sheet, folds, onChoose }: DockProps) {
  const app = useApp();
  const dock = useRef<HTMLElement>(null);
  const appearance = useAppearance();
  const [isBusy, setBusy] = useState(false);
  const [isTyping, setTyping] = useState(false);
  const [sentNumber, setSentNumber] = useState<string | null>(null);
  const [panel, setPanel] = useState<"why" | "more" | null>(null);
  const isTall = useTall(dock);
  const linesBelow = useLinesBelow(sheet, dock, folds.opened);
  const brief = briefOf(question.payload.given);
  const { choices } = question.payload;
  const outcome = outcomeOf(question, app.trouble === null);
  const isOpen = outcome === null;
  const obstacle = obstacleOf(question);

  const { result, note } = useFocusOnResult(isOpen);

  const answer = async (index: number, words: { number?: string; comment?: string } = {}) => {
    if (isBusy) return;
    setBusy(true);
    setSentNumber(words.number ?? null);
    await app.answer(question, index, words);
    setBusy(false);
  };
  const press = (index: number) => {
    if (index === 0 && brief.confirm === "number") setTyping(true);
    else void answer(index);
  };

  return (
    <footer
      ref={dock}
      class={["dock", linesBelow > 0 && "over", isTall && "tall"].filter(Boolean).join(" ")}
      onFocusIn={note}
      onFocusOut={note}
    >
      <div class="waiting-place">
        <WaitingStrip others={others} onChoose={onChoose} />
      </div>
      {!isTyping && (
        <div class="hint-place" inert={!isOpen}>
          <Hint
            obstacle={obstacle}
            foldedParts={folds.left}
            linesBelow={linesBelow}
            isOffline={app.trouble !== null}
            heldChoice={brief.confirm === "hold" ? visibleText(choices[0] ?? "") : null}
            onUnfold={folds.openAll}
            onScroll={() =>
              scrollBy({ top: (dock.current?.getBoundingClientRect().top ?? 0) * PAGE_SHARE, behavior: "smooth" })
            }
          />
        </div>
      )}
      {isOpen && isTyping ? (
        <NumberEntry
          question={question}
          host={brief.host}
          wrong={question.triesLeft === undefined ? null : sentNumber}
          isBusy={isBusy}
          appearance={appearance}
          onAnswer={(index, number) => answer(index, number === null ? {} : { number })}
        />
      ) : (
        <div class="answer-area">
          {/* The buttons keep their room under the result, so that nothing moves. */}
          {obstacle === null && (
            <div class="answer-buttons" inert={!isOpen}>
              <Answers question={question} isBusy={isBusy} appearance={appearance} onAnswer={press} />
            </div>
          )}
          <Result outcome={outcome} element={result} />
        </div>
      )}
      <div class="quiet-row">
        {isOpen && isTyping && (
          <button type="button" class="quiet" onClick={() => setTyping(false)}>
            <Icon name="back" />
            <span>{t("number.back")}</span>
          </button>
        )}
        {isOpen && !isTyping && brief.takesComment && obstacle === null && (
          <button type="button" class="quiet" aria-haspopup="dialog" onClick={() => setPanel("why")}>
            <Icon name="words" />
            <span>{t("comment.open", { choice: visibleText(choices[1] ?? "") })}</span>
          </button>
        )}
        {question.phase === "sent" && <p class="hint">{t("answer.final")}</p>}
        {isOpen && (
          <button type="button" class="quiet ink" aria-haspopup="dialog" onClick={() => setPanel("more")}>
            <Icon name="more" />
            <span>{t("more.open")}</span>
          </button>
        )}
      </div>
      {panel === "why" && isOpen && (
        <SayWhy
          asker={sourceName(question.source)}
          choices={choices
            .map((label, index) => ({ label, index }))
            .filter(({ index }) => index > 0 || brief.confirm === "tap")}
          onAnswer={(index, comment) => {
            setPanel(null);
            void answer(index, { comment });
          }}
          onClose={() => setPanel(null)}
        />
      )}
      {panel === "more" && isOpen && <More question={question} memory={memory} onClose={() => setPanel(null)} />}
    </footer>
  );
}

/** Once the buttons are gone, what became of it has the focus that one of them had. */
function useFocusOnResult(isOpen: boolean) {
  const result = useRef<HTMLDivElement>(null);
  const isWithin = useRef(false);
  useLayoutEffect(() => {
    if (!isOpen && isWithin.current) result.current?.focus({ preventScroll: true });
  }, [isOpen]);
  // Out of the dock into nothing is what a button does that vanishes.
  const note = ({ type, relatedTarget, currentTarget }: FocusEvent) => {
    if (type === "focusin") isWithin.current = true;
    else if (relatedTarget instanceof Node) isWithin.current = (currentTarget as Node).contains(relatedTarget);
  };
  return { result, note };
}
