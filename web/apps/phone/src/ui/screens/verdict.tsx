/** What became of a question, as one line: the answer or its lack in a word of its own colour, then where or why. */

import { type Question, visibleText } from "@reflecto/core";
import { spanOf, timeOf } from "../../i18n/dates.ts";
import { t } from "../../i18n/index.ts";
import { choiceLabel, sourceName } from "../../items/outcome.ts";
import { fateOf } from "../../state/history.ts";

const TONES = { approved: "yes", denied: "no", other: "", missed: "late", ended: "" } as const;

/** `asked` are the times it was asked at, the newest first, where it was asked again and again. */
export function Verdict({ question, asked }: { question: Question; asked: readonly number[] }) {
  const [word, more] = verdictOf(question, asked);
  return (
    <>
      <b class={TONES[fateOf(question)]}>
        <bdi>{word}</bdi>
      </b>
      {more && ` · ${more}`}
    </>
  );
}

function verdictOf(question: Question, asked: readonly number[]): [string, string] {
  const { phase, by, choiceIndex, tappedIndex, payload, ts } = question;
  const answer = choiceLabel(question, choiceIndex);
  const late = tappedIndex !== null && t("history.too_late", { choice: choiceLabel(question, tappedIndex) });
  switch (phase) {
    case "sent":
      return [answer, t("history.here")];
    case "answered_elsewhere":
      return [answer, late || (by ? t("history.on", { device: visibleText(by) }) : "")];
    case "withdrawn":
      return [t("history.withdrawn"), late || t("history.withdrawn.by", { name: sourceName(question.source) })];
    case "refused":
      return [t("history.not_recorded"), t("history.not_recorded.why")];
    default:
      return [t("history.no_answer"), late || missedMore(asked, payload.expires_at - ts)];
  }
}

function missedMore(asked: readonly number[], waitedSeconds: number): string {
  if (asked.length < 2) return t("history.waited", { span: spanOf(waitedSeconds) });
  const times = { from: timeOf(asked.at(-1) ?? 0), to: timeOf(asked[0] ?? 0) };
  return t("history.asked_times", { count: asked.length, ...times });
}
