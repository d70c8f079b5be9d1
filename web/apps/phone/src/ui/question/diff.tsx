/** A diff, line by line; long runs of one sign are folded, counted, and opened by one tap. */

import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import type { Diff, DiffLine, Stretch } from "../../items/diff.ts";
import { Icon } from "../icons.tsx";
import { Visible } from "../text.tsx";
import { useFolds } from "./folds.ts";

export function DiffView({ diff }: { diff: Diff }) {
  const { hunks, added, removed } = diff;
  return (
    <>
      <p class="block-head">
        <span>
          <b class="plus">+{added}</b> <b class="minus">−{removed}</b> {t("diff.places", { count: placesOf(diff) })}
        </span>
      </p>
      <div class="diff" dir="ltr">
        {hunks.map((hunk, index) => (
          <section key={index}>
            {hunk.line !== null && (
              <p class="hunk">
                <span>{t("diff.line", { line: hunk.line })}</span>{" "}
                <code>
                  <Visible text={hunk.heading} keepLines={false} />
                </code>
              </p>
            )}
            {hunk.stretches.map((stretch, at) => (
              <StretchView key={at} stretch={stretch} />
            ))}
          </section>
        ))}
      </div>
    </>
  );
}

function placesOf({ hunks }: Diff): number {
  return hunks.filter(({ line }) => line !== null).length;
}

function StretchView({ stretch }: { stretch: Stretch }) {
  const [isOpened, open] = useState(false);
  const { areAllOpen, noteOpened } = useFolds();
  if (!stretch.isFolded || isOpened || areAllOpen) return <Lines lines={stretch.lines} />;
  return (
    <button
      type="button"
      class="fold"
      onClick={() => {
        open(true);
        noteOpened();
      }}
    >
      <Icon name="next" />
      <span>{t("diff.fold", { count: stretch.lines.length })}</span>
      <small>{t("diff.unseen")}</small>
    </button>
  );
}

/** So many lines are laid out together, and only where they are looked at: a long diff scrolls on a slow phone too. */
const CHUNK_LINES = 20;

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  const chunks = Array.from({ length: Math.ceil(lines.length / CHUNK_LINES) }, (_, at) =>
    lines.slice(at * CHUNK_LINES, (at + 1) * CHUNK_LINES),
  );
  return chunks.map((chunk, at) => (
    <div key={at} class="diff-lines" style={`--count: ${chunk.length}`}>
      {chunk.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </div>
  ));
}

/** Its sign and number are drawn by the styles: of a long diff there are a thousand. */
function Line({ line: { sign, number, text } }: { line: DiffLine }) {
  const indent = Math.min(8, text.length - text.trimStart().length);
  return (
    <div class={`diff-line ${sign}`} data-line={number} style={`--in: ${indent}`}>
      {sign === "add" && <span class="visually-hidden">{t("diff.added")} </span>}
      {sign === "del" && <span class="visually-hidden">{t("diff.removed")} </span>}
      {text === "" ? "\u00a0" : <Visible text={text} />}
    </div>
  );
}
