/** One thing of the past as it was, and the way to delete it. */

import { type Block, briefOf, type Question, visibleText } from "@reflecto/core";
import { useEffect } from "preact/hooks";
import { momentOf } from "../../i18n/dates.ts";
import { t } from "../../i18n/index.ts";
import { choiceLabel, sourceName } from "../../items/outcome.ts";
import { history } from "../../state/history.ts";
import { hrefOf } from "../../state/route.ts";
import { SenderAvatar } from "../avatar.tsx";
import { ConfirmButton, Empty } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Name, Visible } from "../text.tsx";
import { NoteCard } from "./inbox.tsx";
import { Verdict } from "./verdict.tsx";

export function PastItem({ itemKey }: { itemKey: string }) {
  const app = useApp();
  const entry = history(app.items, app.now(), "all", "").find(({ all }) => all.some(({ key }) => key === itemKey));
  const unread = entry?.all.filter(({ isRead }) => !isRead).map(({ key }) => key) ?? [];
  useEffect(() => {
    if (unread.length > 0) void app.markRead(unread);
  });
  if (!entry) {
    return (
      <Empty icon="history" title={t("history.gone")}>
        <a href={hrefOf("history")}>{t("tab.history")}</a>
      </Empty>
    );
  }
  const remove = async () => {
    await app.remove(entry.all.map(({ key }) => key));
    location.hash = hrefOf("history");
  };
  return (
    <div class="cards">
      {entry.item.type === "interaction" ? (
        <PastQuestion question={entry.item} asked={entry.all.map(({ ts }) => ts)} />
      ) : (
        <NoteCard item={entry.item} />
      )}
      <div class="past-end">
        <ConfirmButton
          label={t("history.delete")}
          question={t("history.delete.question")}
          confirm={t("history.delete.confirm")}
          work={remove}
        />
      </div>
    </div>
  );
}

function PastQuestion({ question, asked }: { question: Question; asked: readonly number[] }) {
  const { app, host, where, session, blocks } = briefOf(question.payload.given);
  const said = [app, host, where, session].filter((part) => part !== null).join(", ");
  const isLost = question.phase === "answered_elsewhere" || question.phase === "refused";
  const comment = isLost ? undefined : question.comment;
  return (
    <article class="card past-question">
      <header class="card-head">
        <p class="asker">
          <SenderAvatar source={question.source} />
          <Name text={sourceName(question.source)} />
        </p>
      </header>
      <h2 class="note-title" dir="auto">
        <Visible text={question.payload.question} />
      </h2>
      <dl class="facts">
        <dt>{t("history.became")}</dt>
        <dd>
          <Verdict question={question} asked={asked} />
        </dd>
        {said && (
          <>
            <dt>{t("history.who")}</dt>
            <dd>{t("history.says", { what: visibleText(said, { keepLines: false }) })}</dd>
          </>
        )}
        {comment && (
          <>
            <dt>{t("history.comment")}</dt>
            <dd dir="auto">
              <Visible text={comment} />
            </dd>
          </>
        )}
        <dt>{t("history.choices")}</dt>
        {question.payload.choices.map((label, index) => (
          <dd key={label}>
            <bdi>{choiceLabel(question, index)}</bdi>
          </dd>
        ))}
        <dt>{t("history.asked")}</dt>
        {asked.map((ts) => (
          <dd key={ts}>{momentOf(ts)}</dd>
        ))}
      </dl>
      {blocks.length > 0 && (
        <section class="past-details">
          <h3>{t("history.details")}</h3>
          {blocks.map((block, index) => (
            <PastBlock key={index} block={block} />
          ))}
        </section>
      )}
    </article>
  );
}

/** Folded: what is past is looked up, not decided. */
function PastBlock({ block }: { block: Block }) {
  if (block.kind === "fields") {
    return (
      <dl class="facts">
        {block.fields.map(({ name, value }) => (
          <div key={name}>
            <dt dir="auto">
              <Visible text={name} keepLines={false} />
            </dt>
            <dd dir="auto">
              <Visible text={value} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  const [line = ""] = block.text.split("\n", 1);
  return (
    <details class="preview">
      <summary>
        <Name text={block.label ?? line} />
      </summary>
      <pre dir={block.kind === "text" ? "auto" : "ltr"}>
        <Visible text={block.text} />
      </pre>
    </details>
  );
}
