/** What became of a question, in words: the answer or its lack, and where or why. Pure. */

import { type Question, visibleText } from "@reflecto/core";
import { spanOf, timeOf } from "../i18n/dates.ts";
import { t } from "../i18n/index.ts";
import { choiceLabel, endingOf, sourceName } from "../items/outcome.ts";

/** `asked` are the times it was asked at, the newest first, where it was asked again and again. */
export function verdictOf(question: Question, asked: readonly number[]): [word: string, more: string] {
  const { phase, by, choiceIndex, tappedIndex, payload, ts } = question;
  const answer = choiceLabel(question, choiceIndex);
  const late = tappedIndex !== null && t("history.too_late", { choice: choiceLabel(question, tappedIndex) });
  switch (phase) {
    case "sent":
      return [answer, t("history.here")];
    case "answered_elsewhere":
      return [answer, late || (by ? t("history.on", { device: visibleText(by) }) : "")];
    case "withdrawn": {
      const [word, why] = withdrawnWords(question);
      return [word, late || why];
    }
    case "refused":
      return [t("history.not_recorded"), t("history.not_recorded.why")];
    default:
      return [t("history.no_answer"), late || missedMore(asked, payload.expires_at - ts)];
  }
}

function withdrawnWords(question: Question): [string, string] {
  const why = endingOf(question);
  if (question.reason === "dismissed" || question.reason === "wrong_number") return [why, ""];
  if (question.reason === undefined || question.reason === "withdrawn") {
    return [t("history.withdrawn"), t("history.withdrawn.by", { name: sourceName(question.source) })];
  }
  return [t("history.filter.ended"), why];
}

function missedMore(asked: readonly number[], waitedSeconds: number): string {
  if (asked.length < 2) return t("history.waited", { span: spanOf(waitedSeconds) });
  const times = { from: timeOf(asked.at(-1) ?? 0), to: timeOf(asked[0] ?? 0) };
  return t("history.asked_times", { count: asked.length, ...times });
}
