/** What became of a question, as one line: the answer or its lack in a word of its own colour, then where or why. */

import type { Question } from "@reflecto/core";
import { fateOf } from "../../state/history.ts";
import { verdictOf } from "../../state/verdict.ts";

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
