/** Who asks, and how long there is: on the phone's own ground, so that no text of the asker's can look like it. */

import { type Brief, countdown, type Question } from "@reflecto/core";
import { t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import { SenderAvatar } from "../avatar.tsx";
import { Name, Visible } from "../text.tsx";

/** From here on the remaining time asks for attention. */
const HURRY_SECONDS = 60;

export function Who({ question, brief, now }: { question: Question; brief: Brief; now: number }) {
  const { app, host, where, session } = brief;
  const said = [app, host, where, session].filter((text) => text !== null);
  return (
    <header class="who">
      <SenderAvatar source={question.source} />
      <div class="who-text">
        <p class="who-name">
          <Name text={sourceName(question.source)} />
        </p>
        {said.length > 0 && (
          <p class="says">
            {t("question.says")}{" "}
            <bdi>
              <Visible text={said.join(" · ")} keepLines={false} />
            </bdi>
          </p>
        )}
      </div>
      {question.phase === "open" && <TimeLeft question={question} now={now} />}
    </header>
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
      <span role="timer" aria-label={t("time.left", { time: countdown(left) })}>
        {countdown(left)}
      </span>
    </p>
  );
}
