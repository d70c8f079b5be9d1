/** A question's life on this phone, as a table. */

export type Phase = "open" | "sending" | "sent" | "answered_elsewhere" | "withdrawn" | "expired" | "refused";

export type Happening =
  | "tapped"
  | "time_ran_out"
  | "accepted" // the server recorded this phone's tap
  | "answered_here" // the server says that this device answered
  | "answered" // another device did
  | "cancelled"
  | "expired"
  | "wrong_number" // this tap counts for nothing, and the question still waits
  | "refused";

/** The server's word on a question. `choiceIndex` and `by` describe the answer that won. */
export interface Verdict {
  happening: Exclude<Happening, "tapped" | "time_ran_out">;
  choiceIndex: number | null;
  by: string | null;
  reason?: string;
  triesLeft?: number;
}

// What is not in the table changes nothing: a second tap, a late word of the server, news of an ended question.
// Time does not end a question whose answer is on its way: the server may have taken it, so its word is awaited.
export const LIFECYCLE: Readonly<Record<Phase, Partial<Record<Happening, Phase>>>> = {
  open: {
    tapped: "sending",
    time_ran_out: "expired",
    answered: "answered_elsewhere",
    answered_here: "sent", // before this app's data was lost or restored
    cancelled: "withdrawn",
    expired: "expired",
  },
  sending: {
    accepted: "sent",
    answered_here: "sent",
    answered: "answered_elsewhere",
    cancelled: "withdrawn",
    expired: "expired",
    wrong_number: "open",
    refused: "refused",
  },
  sent: {},
  answered_elsewhere: {},
  withdrawn: {},
  expired: { answered: "answered_elsewhere", answered_here: "sent", cancelled: "withdrawn" }, // our clock was ahead
  refused: {},
};

export function isOver(phase: Phase): boolean {
  return phase !== "open" && phase !== "sending";
}
