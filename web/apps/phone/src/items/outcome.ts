/** What became of a question, in the few words that a notification and its screen have room for. */

import { type Question, visibleText } from "@reflecto/core";
import { type Key, t } from "../i18n/index.ts";

/** Of one line. */
const NAME = { keepLines: false };

export interface Outcome {
  text: string;
  tone: "done" | "late" | "over" | "waiting";
}

/** Why a question was cancelled; any other reason, or none, is the asker's own. */
const REASONS: Readonly<Record<string, Key>> = {
  dismissed: "result.dismissed",
  wrong_number: "result.wrong_number",
  abandoned: "result.abandoned",
  revoked: "result.revoked",
};

/** Null while the question is open. `canLeave`: nothing is known that keeps an answer on its way from the server. */
export function outcomeOf(question: Question, canLeave: boolean): Outcome | null {
  const { phase, tappedIndex } = question;
  const over = (what: string): Outcome =>
    tappedIndex === null ? { text: what, tone: "over" } : { text: t("result.late", { what }), tone: "late" };
  switch (phase) {
    case "open":
      return null;
    case "sending": {
      const choice = choiceLabel(question, tappedIndex);
      return { text: t(canLeave ? "result.sending" : "result.kept", { choice }), tone: "waiting" };
    }
    case "sent":
      return { text: t("result.sent", { choice: choiceLabel(question, question.choiceIndex) }), tone: "done" };
    case "answered_elsewhere": {
      const choice = choiceLabel(question, question.choiceIndex);
      const device = question.by && visibleText(question.by, NAME);
      return over(choice && device ? t("result.elsewhere", { device, choice }) : t("result.elsewhere.unknown"));
    }
    case "withdrawn":
      return over(endingOf(question));
    case "expired":
      return over(t("result.expired"));
    case "refused":
      return { text: t("result.not_recorded"), tone: "late" };
  }
}

/** Why it was cancelled. */
export function endingOf({ reason }: Question): string {
  return t(REASONS[reason ?? ""] ?? "result.withdrawn");
}

export function choiceLabel(question: Question, index: number | null): string {
  return index === null ? "" : visibleText(question.payload.choices[index] ?? "", NAME);
}

/** Who sent it: the token's label, or the server. */
export function sourceName(source: { token?: string; server?: string }): string {
  return visibleText(source.token ?? source.server ?? t("sender.unknown"), NAME);
}
