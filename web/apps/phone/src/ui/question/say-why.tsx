/** A word with the tap: "no" is half an answer to an agent. */

import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { Visible } from "../text.tsx";
import { Panel } from "./panel.tsx";

const COMMENT_MAX_CHARS = 500;

/** `choices`: those that a plain tap may give, with their places. */
export function SayWhy(props: {
  asker: string;
  choices: readonly { label: string; index: number }[];
  onAnswer: (index: number, comment: string) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const count = Array.from(text.trim()).length;
  const isReady = count > 0 && count <= COMMENT_MAX_CHARS;
  return (
    <Panel title={t("comment.title")} onClose={props.onClose}>
      <label class="field">
        <span class="visually-hidden">{t("comment.label")}</span>
        <textarea rows={3} dir="auto" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <small>
          {t("comment.reads", { name: props.asker })} <span class="num">{`${count} / ${COMMENT_MAX_CHARS}`}</span>
        </small>
      </label>
      <div class="choices">
        {props.choices.map(({ label, index }) => (
          <button
            key={index}
            type="button"
            class="choice"
            aria-disabled={!isReady}
            onClick={() => isReady && props.onAnswer(index, text)}
          >
            <span dir="auto">
              <Visible text={label} keepLines={false} />
            </span>
          </button>
        ))}
      </div>
      <button type="button" class="button quiet" onClick={props.onClose}>
        {t("comment.back")}
      </button>
    </Panel>
  );
}
