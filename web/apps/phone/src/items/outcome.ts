/** What became of a question, in the few words that a notification and a card have room for. */

import { type Question, visibleText } from "@reflecto/core";

// The default labels read better as what was done; any other label is repeated as it is.
const DONE: Readonly<Record<string, string>> = { Approve: "Approved", Deny: "Denied" };

/** Of one line. */
const NAME = { keepLines: false };

export interface Outcome {
  text: string;
  tone: "done" | "late" | "over" | "waiting";
}

/** Null while the question is open. `canLeave`: nothing is known that keeps an answer on its way from the server. */
export function outcomeOf(question: Question, canLeave: boolean): Outcome | null {
  const { phase, tappedIndex } = question;
  const wasTapped = tappedIndex !== null;
  const late = (text: string): Outcome => ({
    text: wasTapped ? `Too late: ${text.charAt(0).toLowerCase()}${text.slice(1)}` : text,
    tone: wasTapped ? "late" : "over",
  });
  switch (phase) {
    case "open":
      return null;
    case "sending": {
      const label = choiceLabel(question, tappedIndex);
      return { text: canLeave ? `${label} · sending…` : `${label} · kept, and sent later`, tone: "waiting" };
    }
    case "sent": {
      const label = choiceLabel(question, question.choiceIndex);
      return { text: `${DONE[label] ?? label} · sent`, tone: "done" };
    }
    case "answered_elsewhere": {
      const label = choiceLabel(question, question.choiceIndex);
      const where = question.by ? `Answered on ${visibleText(question.by, NAME)}` : "Answered elsewhere";
      return late(label ? `${where}: ${label}` : where);
    }
    case "withdrawn":
      return late("Withdrawn by the asker");
    case "expired":
      return late("Expired");
    case "refused":
      return { text: "Not recorded: the server no longer has this question", tone: "late" };
  }
}

export function choiceLabel(question: Question, index: number | null): string {
  return index === null ? "" : visibleText(question.payload.choices[index] ?? "", NAME);
}

/** Who sent it: the token's label, or the server. */
export function sourceName(source: { token?: string; server?: string }): string {
  return visibleText(source.token ?? source.server ?? "Unknown sender", NAME);
}
