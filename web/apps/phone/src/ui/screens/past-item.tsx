/** One thing of the past as it was, and the way to delete it. */

import type { Question } from "@reflecto/core";
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
    </article>
  );
}
