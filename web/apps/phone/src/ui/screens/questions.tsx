/** What waits for an answer: one question in focus, with its answers at the thumb, and what else waits or just ended. */

import type { Item, Question } from "@reflecto/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import { chosenFocus, type Focus, focusAt, NO_FOCUS, neighbourOf } from "../../state/focus.ts";
import { questions } from "../../state/lists.ts";
import { memoryOf, recentlyOver, waitingQuestions } from "../../state/sitting.ts";
import { Empty } from "../controls.tsx";
import { useApp, useTick } from "../hooks.ts";
import { Key } from "../question/answers.tsx";
import { Dock } from "../question/dock.tsx";
import { FoldsContext, useFoldState } from "../question/folds.ts";
import { useQuestionKeys } from "../question/keys.ts";
import { OverLines } from "../question/over.tsx";
import { TITLE_ID } from "../question/sheet.tsx";
import { QuestionView } from "../question/view.tsx";
import { WaitingRows } from "../question/waiting.tsx";

/** So many lines of what just ended are shown. */
const OVER_LINES = 2;

/** `linkedId`: the question that a link or a notification led to. */
export function Questions({ linkedId }: { linkedId: string | null }) {
  const app = useApp();
  const now = app.now();
  const waiting = waitingQuestions(app.items, now);
  const over = recentlyOver(app.items, now);
  useTick(waiting.length === 0 && over.length > 0); // while some wait, the frame around it ticks
  const { focusId, choose } = useFocus(linkedId, app.items, waiting, now);
  const question = questions(app.items, now).find(({ id }) => id === focusId);
  useQuestionKeys((step) => choose(neighbourOf(focusId, waiting, step)));
  const ended = over.filter(({ id }) => id !== focusId).slice(0, OVER_LINES);
  return (
    <>
      <p class="visually-hidden" role="status">
        <Announcement waiting={waiting} />
      </p>
      {question ? (
        <InFocus key={question.id} question={question} waiting={waiting} ended={ended} onChoose={choose} />
      ) : (
        <div class="asked">
          <Empty icon="questions" title={t("question.empty")}>
            {t("question.empty.hint")}
          </Empty>
          <OverLines questions={ended} />
        </div>
      )}
    </>
  );
}

/** Which question is looked at, and how a person chooses another. */
function useFocus(linkedId: string | null, items: readonly Item[], waiting: readonly Question[], now: number) {
  const focus = useRef<Focus>(NO_FOCUS);
  const followed = useRef<string | null>(null);
  const [, redraw] = useState(0);
  const all = questions(items, now);
  const follow = (id: string) => {
    focus.current = chosenFocus(id, all);
    followed.current = linkedId;
  };
  const choose = (id: string | null) => {
    if (id === null) return;
    follow(id);
    redraw((count) => count + 1);
  };
  // A notification may lead to a question that has not come yet: it is followed once it is there.
  if (linkedId !== null && linkedId !== followed.current && all.some(({ id }) => id === linkedId)) follow(linkedId);
  focus.current = focusAt(focus.current, all, waiting, now);
  return { focusId: focus.current.id, choose };
}

interface InFocusProps {
  question: Question;
  waiting: readonly Question[];
  ended: readonly Question[];
  onChoose: (id: string | null) => void;
}

function InFocus({ question, waiting, ended, onChoose }: InFocusProps) {
  const app = useApp();
  const sheet = useRef<HTMLElement>(null);
  const folds = useFoldState(question);
  const memory = memoryOf(app.items, question, app.now());
  const others = waiting.filter(({ id }) => id !== question.id);
  useKeptFocus();
  return (
    <FoldsContext.Provider value={folds.context}>
      <section ref={sheet} class="asked" aria-label={t("tab.questions")}>
        <QuestionView question={question} memory={memory} now={app.now()} />
      </section>
      <OverLines questions={ended} />
      <Dock question={question} memory={memory} others={others} sheet={sheet} folds={folds} onChoose={onChoose} />
      <aside class="beside" aria-label={t("waiting.list", { count: waiting.length })}>
        <h2>{others.length > 0 ? t("waiting.list", { count: waiting.length }) : t("waiting.none")}</h2>
        {others.length > 0 && <WaitingRows questions={waiting} focusId={question.id} onChoose={onChoose} />}
        <OverLines questions={ended} />
        <p class="fine">
          <Key name="1" /> – <Key name={question.payload.choices.length} /> {t("keys.answer")}
        </p>
        <p class="fine">
          <Key name="J" /> <Key name="K" /> {t("keys.move")}
        </p>
      </aside>
    </FoldsContext.Provider>
  );
}

/** Where the button that had the focus is gone, the next question has it: nobody on a keyboard is sent back to the top. */
function useKeptFocus(): void {
  useLayoutEffect(() => {
    const title = document.getElementById(TITLE_ID);
    if (isFocusLost) title?.focus({ preventScroll: true });
    isFocusLost = false;
    scrollTo({ top: 0 });
    return () => {
      isFocusLost = (document.activeElement?.closest(".dock, .asked") ?? null) !== null;
    };
  }, []);
}

let isFocusLost = false;

/** The newest one that came while this screen was looked at, said once. */
function Announcement({ waiting }: { waiting: readonly Question[] }) {
  const known = useRef<Set<string> | null>(null);
  const [said, say] = useState("");
  useEffect(() => {
    const isStart = known.current === null;
    const seen = known.current ?? new Set<string>();
    const newest = waiting.filter(({ id }) => !seen.has(id)).at(-1);
    for (const { id } of waiting) seen.add(id);
    known.current = seen;
    if (newest && !isStart) {
      say(t("question.came", { name: sourceName(newest.source), question: newest.payload.question }));
    }
  });
  return said;
}
