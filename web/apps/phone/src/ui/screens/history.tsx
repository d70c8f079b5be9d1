/** What is past, with search. */

import { type Question, visibleText } from "@reflecto/core";
import { useState } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { choiceLabel, outcomeOf, sourceName } from "../../items/outcome.ts";
import { type Filter, history } from "../../state/lists.ts";
import { Empty } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { Name, Visible, When } from "../text.tsx";
import { NoteCard } from "./inbox.tsx";

const FILTERS: readonly [Filter, Key][] = [
  ["all", "history.filter.all"],
  ["questions", "history.filter.questions"],
  ["messages", "history.filter.messages"],
  ["documents", "history.filter.documents"],
];
/** Drawn at first; more on request, so that a long history opens at once. */
const PAGE_ITEMS = 50;

export function History() {
  const app = useApp();
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const [limit, setLimit] = useState(PAGE_ITEMS);
  const found = history(app.items, app.now(), filter, search);
  return (
    <>
      <div class="filters">
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">{t("history.search")}</span>
          <input
            type="search"
            placeholder={t("history.search")}
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <div class="segments" role="group" aria-label={t("history.show")}>
          {FILTERS.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={filter === name} onClick={() => setFilter(name)}>
              {t(label)}
            </button>
          ))}
        </div>
      </div>
      {found.length === 0 ? (
        <Empty icon="history" title={t(search ? "history.none_found" : "history.empty")}>
          {search ? t("history.none_says", { words: visibleText(search) }) : t("history.empty.hint")}
        </Empty>
      ) : (
        <div class="cards">
          {found
            .slice(0, limit)
            .map((item) =>
              item.type === "interaction" ? (
                <PastQuestion key={item.key} question={item} />
              ) : (
                <NoteCard key={item.key} item={item} />
              ),
            )}
        </div>
      )}
      {found.length > limit && (
        <button type="button" class="button more" onClick={() => setLimit(limit + PAGE_ITEMS)}>
          {t("history.more")}
        </button>
      )}
    </>
  );
}

function PastQuestion({ question }: { question: Question }) {
  const app = useApp();
  const outcome = outcomeOf(question, true);
  const { choices } = question.payload;
  return (
    <article class="card note past-question">
      <header class="card-head">
        <p class="from">
          <Icon name="questions" />
          <Name text={sourceName(question.source)} />
        </p>
        <When ts={question.ts} now={app.now()} />
      </header>
      <h2 class="note-title" dir="auto">
        <Visible text={question.payload.question} />
      </h2>
      <p class={`verdict ${outcome?.tone}`}>{outcome?.text}</p>
      <p class="aside">
        {t("history.choices", { choices: choices.map((_, index) => choiceLabel(question, index)).join(" / ") })}
      </p>
    </article>
  );
}
