/** What waits for an answer. Cards keep their place while they are on the screen, also when they are over. */

import { countdown, isOver, type Question } from "@reflecto/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { outcomeOf, sourceName } from "../../items/outcome.ts";
import { questions } from "../../state/lists.ts";
import { Empty } from "../controls.tsx";
import { useApp, useTick } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { isTooSoon, useAppearance } from "../tap-guard.ts";
import { Name, Visible, When } from "../text.tsx";

/** From here on the remaining time asks for attention. */
const HURRY_SECONDS = 60;
/** Beyond this it is read rather than glanced at, in smaller type. */
const LONG_QUESTION_CHARS = 180;
/** Labels up to this long stand side by side, two of them. */
const SHORT_LABEL_CHARS = 16;

export function Questions({ focusId }: { focusId: string | null }) {
  const app = useApp();
  const all = questions(app.items, app.now());
  const seen = useRef(new Set<string>());
  for (const question of all) if (!isOver(question.phase) || question.id === focusId) seen.current.add(question.id);
  const shown = all.filter((question) => seen.current.has(question.id));
  useTick(shown.some((question) => !isOver(question.phase)));
  if (shown.length === 0) {
    return (
      <Empty icon="questions" title="Nothing to decide">
        When a script or an agent asks you something, it appears here and as a notification.
      </Empty>
    );
  }
  return (
    <div class="cards">
      {shown.map((question) => (
        <QuestionCard key={question.id} question={question} isFocused={question.id === focusId} />
      ))}
    </div>
  );
}

function QuestionCard({ question, isFocused }: { question: Question; isFocused: boolean }) {
  const app = useApp();
  const card = useRef<HTMLElement>(null);
  const titleId = `question-${question.id}`;
  const isAnswerable = !isOver(question.phase);
  const isLong = question.payload.question.length > LONG_QUESTION_CHARS;
  useEffect(() => {
    if (isFocused) card.current?.scrollIntoView({ block: "nearest" });
  }, [isFocused]);
  return (
    <article ref={card} class={`card question ${question.phase}`} aria-labelledby={titleId}>
      <header class="card-head">
        <Asker name={sourceName(question.source)} />
        {isAnswerable ? <TimeLeft question={question} now={app.now()} /> : <When ts={question.ts} now={app.now()} />}
      </header>
      <h2 id={titleId} class={isLong ? "question-text long" : "question-text"} dir="auto">
        <Visible text={question.payload.question} />
      </h2>
      <AnswerArea question={question} />
    </article>
  );
}

function Asker({ name }: { name: string }) {
  return (
    <p class="asker">
      <span class="avatar" aria-hidden="true">
        {Array.from(name)[0]?.toLocaleUpperCase()}
      </span>
      <span>
        <Name text={name} /> <span class="asks">asks</span>
      </span>
    </p>
  );
}

function TimeLeft({ question, now }: { question: Question; now: number }) {
  const total = Math.max(1, question.payload.expires_at - question.ts);
  const left = Math.max(0, question.payload.expires_at - now);
  const isHurried = left <= HURRY_SECONDS;
  return (
    <p class={isHurried ? "time-left hurried" : "time-left"}>
      <svg viewBox="0 0 20 20" class="clock" aria-hidden="true">
        <circle cx="10" cy="10" r="8" class="clock-face" />
        <circle cx="10" cy="10" r="8" class="clock-left" pathLength="1" stroke-dasharray={`${left / total} 1`} />
      </svg>
      <span role="timer">
        {countdown(left)} <span class="visually-hidden">left</span>
      </span>
    </p>
  );
}

function AnswerArea({ question }: { question: Question }) {
  const app = useApp();
  const [isBusy, setBusy] = useState(false);
  const appearance = useAppearance();
  const outcome = outcomeOf(question, app.trouble === null);
  const { choices } = question.payload;
  const isTwo = choices.length === 2 && choices.every((label) => Array.from(label).length <= SHORT_LABEL_CHARS);

  const answer = async (event: MouseEvent, index: number) => {
    if (isBusy || isTooSoon(appearance, event)) return;
    setBusy(true);
    await app.answer(question, index);
    setBusy(false);
  };

  return (
    <div class="answer-area">
      {/* The buttons keep their room under the result, so that nothing moves. */}
      <div class={isTwo ? "choices two" : "choices"} role="group" aria-label="Your answer" inert={outcome !== null}>
        {choices.map((label, index) => (
          <button
            key={label}
            type="button"
            class={index === 0 ? "choice first" : "choice"}
            aria-disabled={isBusy}
            onClick={(event) => answer(event, index)}
          >
            <span dir="auto">
              <Visible text={label} keepLines={false} />
            </span>
          </button>
        ))}
      </div>
      <div class={outcome ? `result ${outcome.tone}` : "result none"} role="status">
        {outcome && (
          <>
            <span class="result-icon">
              <Icon name={outcome.tone === "done" ? "check" : outcome.tone === "over" ? "over" : "late"} />
            </span>
            <span dir="auto">{outcome.text}</span>
          </>
        )}
      </div>
    </div>
  );
}
