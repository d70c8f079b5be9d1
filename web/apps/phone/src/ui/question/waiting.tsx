/** What else waits: a line at the thumb and its list on a phone, a list beside the question on a computer. */

import { countdown, type Question, visibleText } from "@reflecto/core";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import { SenderAvatar } from "../avatar.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { Visible } from "../text.tsx";
import { Panel } from "./panel.tsx";

const FACES = 3;

/** `others`: without the one in focus. Nothing where none waits. */
export function WaitingStrip({ others, onChoose }: { others: readonly Question[]; onChoose: (id: string) => void }) {
  const app = useApp();
  const [isListed, setListed] = useState(false);
  const [next] = others;
  if (!next) return null;
  const left = countdown(Math.max(0, next.payload.expires_at - app.now()));
  return (
    <div class="waiting-strip">
      <button type="button" aria-haspopup="dialog" onClick={() => setListed(true)}>
        <span class="faces">
          {others.slice(0, FACES).map(({ id, source }) => (
            <SenderAvatar key={id} source={source} isSmall />
          ))}
        </span>
        <strong>{t("waiting.more", { count: others.length })}</strong>
        <span class="rest">{t("waiting.next_ends", { time: left })}</span>
      </button>
      <button type="button" onClick={() => onChoose(next.id)}>
        {t("waiting.next")}
        <Icon name="next" />
      </button>
      {isListed && (
        <Panel title={t("waiting.list", { count: others.length })} onClose={() => setListed(false)}>
          <WaitingRows
            questions={others}
            focusId={null}
            onChoose={(id) => {
              setListed(false);
              onChoose(id);
            }}
          />
          <p class="fine">{t("waiting.order")}</p>
        </Panel>
      )}
    </div>
  );
}

export interface WaitingRowsProps {
  questions: readonly Question[];
  focusId: string | null;
  onChoose: (id: string) => void;
}

export function WaitingRows({ questions, focusId, onChoose }: WaitingRowsProps) {
  const app = useApp();
  return (
    <ul class="group waiting-rows">
      {questions.map(({ id, source, payload }) => (
        <li key={id}>
          <button type="button" aria-current={id === focusId ? "true" : undefined} onClick={() => onChoose(id)}>
            <SenderAvatar source={source} isSmall />
            <span class="row-text">
              <strong dir="auto">
                <Visible text={payload.question} keepLines={false} />
              </strong>
              <small>
                {[
                  visibleText(sourceName(source)),
                  t("time.left", { time: countdown(Math.max(0, payload.expires_at - app.now())) }),
                  payload.choices.length > 2 && t("waiting.answers", { count: payload.choices.length }),
                ]
                  .filter(Boolean)
                  .join(" · ")}
              </small>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
