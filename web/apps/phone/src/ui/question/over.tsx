/** Questions that are over, each folded to one line: what became of it, its words, and when. */

import type { Question } from "@reflecto/core";
import { timeOf } from "../../i18n/dates.ts";
import { t } from "../../i18n/index.ts";
import { outcomeOf } from "../../items/outcome.ts";
import { hrefOf } from "../../state/route.ts";
import { useApp } from "../hooks.ts";
import { Visible } from "../text.tsx";

export function OverLines({ questions }: { questions: readonly Question[] }) {
  const app = useApp();
  if (questions.length === 0) return null;
  return (
    <ul class="over-lines" aria-label={t("waiting.over")}>
      {questions.map((question) => {
        const outcome = outcomeOf(question, app.trouble === null);
        return (
          <li key={question.id}>
            <a href={hrefOf("history", question.key)}>
              <b class={outcome?.tone}>{outcome?.text}</b>
              <span dir="auto">
                <Visible text={question.payload.question} keepLines={false} />
              </span>
              <time>{timeOf(question.endedAt ?? app.now())}</time>
            </a>
          </li>
        );
      })}
    </ul>
  );
}
