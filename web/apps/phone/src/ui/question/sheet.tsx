/** The sheet: the asker's words and what it brings, and nothing of the phone's own but labels of how long things are. */

import type { Block, Brief, CodeBlock } from "@reflecto/core";
import { t } from "../../i18n/index.ts";
import { readDiff } from "../../items/diff.ts";
import { Visible } from "../text.tsx";
import { DiffView } from "./diff.tsx";

/** A question up to this long, with nothing beside it, is the one thing on the screen. */
const SHORT_QUESTION_CHARS = 90;
/** Beyond this it is read rather than glanced at, in smaller type. */
const LONG_QUESTION_CHARS = 180;

/** The heading of the question in focus. */
export const TITLE_ID = "question";

export function Sheet({ question, brief }: { question: string; brief: Brief }) {
  const { length } = question;
  const isBare = brief.blocks.length === 0;
  const isShort = isBare && length <= SHORT_QUESTION_CHARS;
  const isLong = isBare && length > LONG_QUESTION_CHARS;
  return (
    <article class={isShort ? "sheet short" : "sheet detailed"} aria-labelledby={TITLE_ID}>
      <h2 id={TITLE_ID} class={isLong ? "question-text long" : "question-text"} dir="auto" tabIndex={-1}>
        <Visible text={question} />
      </h2>
      {brief.blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </article>
  );
}

function BlockView({ block }: { block: Block }) {
  if (block.kind === "fields") {
    return (
      <dl class="fields">
        {block.fields.map(({ name, value }, index) => (
          <div key={index}>
            <dt>
              <bdi>
                <Visible text={name} keepLines={false} />
              </bdi>
            </dt>
            <dd>
              <bdi>
                <Visible text={value} />
              </bdi>
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <section class="block">
      <BlockHead block={block} />
      {block.kind === "diff" && <DiffView diff={readDiff(block.text)} />}
      {block.kind === "code" && <Code text={block.text} />}
      {block.kind === "text" && (
        <p class="block-text" dir="auto">
          <Visible text={block.text} />
        </p>
      )}
    </section>
  );
}

function BlockHead({ block }: { block: CodeBlock }) {
  const name = block.label ?? block.language;
  const lines = block.text.replace(/\n$/, "").split("\n").length;
  const folder = block.kind === "diff" && name ? name.slice(0, name.lastIndexOf("/") + 1) : "";
  const file = name?.slice(folder.length);
  return (
    <p class="block-head">
      {name && (
        <span class={block.kind === "diff" ? "path" : ""} dir={block.kind === "diff" ? "ltr" : "auto"}>
          <Visible text={folder} keepLines={false} />
          <b>
            <Visible text={file ?? ""} keepLines={false} />
          </b>
        </span>
      )}
      {block.kind === "code" && lines > 1 && <span>{t("code.lines", { count: lines })}</span>}
    </p>
  );
}

function Code({ text }: { text: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what may scroll has to be reached by keyboard
    <pre class={lines.length > 1 ? "code many" : "code"} tabIndex={0}>
      {lines.map((line, index) => (
        <code key={index} class="code-line" data-line={index + 1}>
          {line === "" ? "\u00a0" : <WholeWords text={line} />}
        </code>
      ))}
    </pre>
  );
}

/** A word with a hyphen moves to the next line whole: `--hard` is never `--` and `hard`. */
function WholeWords({ text }: { text: string }) {
  return text.split(/(\S*-\S*)/).map((part, index) =>
    index % 2 === 1 ? (
      <span key={index} class="whole-word">
        <Visible text={part} />
      </span>
    ) : (
      part !== "" && <Visible key={part + String(index)} text={part} />
    ),
  );
}
