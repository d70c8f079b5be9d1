/** The question in focus: who asks, the phone's own words on it, and the sheet with the asker's. */

import { briefOf, type Question } from "@reflecto/core";
import { useMemo } from "preact/hooks";
import type { Memory } from "../../state/sitting.ts";
import { Memories, Warnings } from "./notes.tsx";
import { Sheet } from "./sheet.tsx";
import { Who } from "./who.tsx";

export function QuestionView({ question, memory, now }: { question: Question; memory: Memory; now: number }) {
  const { payload } = question;
  const brief = useMemo(() => briefOf(payload.given), [payload]);
  // A long diff is not gone through again every second, with the clock.
  const sheet = useMemo(() => <Sheet question={payload.question} brief={brief} />, [payload.question, brief]);
  return (
    <>
      <Who question={question} brief={brief} now={now} />
      <Warnings brief={brief} memory={memory} now={now} />
      {sheet}
      <Memories memory={memory} now={now} />
    </>
  );
}
