/** What is past: missed questions first, then day by day; found by words, sender, answer or day. */

import { visibleText } from "@reflecto/core";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { dayOf, timeOf } from "../../i18n/dates.ts";
import { t } from "../../i18n/index.ts";
import { plainTextOf } from "../../items/notification.ts";
import { sourceName } from "../../items/outcome.ts";
import { changeWords } from "../../items/senders.ts";
import { type Entry, FILTERS, type Filter, history, unseenMissed } from "../../state/history.ts";
import type { NoteItem } from "../../state/lists.ts";
import { hrefOf } from "../../state/route.ts";
import { SenderAvatar } from "../avatar.tsx";
import { Empty } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { Name, Visible } from "../text.tsx";
import { PastItem } from "./past-item.tsx";
import { Verdict } from "./verdict.tsx";

/** Drawn at first; more on request, so that a long history opens at once. */
const PAGE_ITEMS = 50;
/** On the screen for as long, a missed question counts as seen. */
const SEEN_AFTER_MS = 1000;

export function History({ openKey }: { openKey: string | null }) {
  return openKey ? <PastItem itemKey={openKey} /> : <HistoryList />;
}

function HistoryList() {
  const app = useApp();
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const [limit, setLimit] = useState(PAGE_ITEMS);
  const fresh = useFreshMissed();
  const found = history(app.items, app.now(), filter, search);
  const shown = found.slice(0, limit);
  const isFresh = ({ item }: Entry) => fresh.has(item.key);
  const missed = found.filter(isFresh);
  return (
    <>
      <div class="filters">
        <label class="search">
          <Icon name="search" />
          <span class="visually-hidden">{t("history.search")}</span>
          <input
            type="search"
            dir="auto"
            placeholder={t("history.search.hint")}
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <Chips filter={filter} onChoose={setFilter} missedCount={fresh.size} />
      </div>
      {found.length === 0 && <NothingFound filter={filter} search={search} />}
      {missed.length > 0 && <Lines title={t("history.missed", { count: fresh.size })} kind="missed" entries={missed} />}
      {byDay(
        shown.filter((entry) => !isFresh(entry)),
        app.now(),
      ).map(([day, entries]) => (
        <Lines key={day} title={day} entries={entries} />
      ))}
      {found.length > limit && (
        <button type="button" class="button more" onClick={() => setLimit(limit + PAGE_ITEMS)}>
          {t("history.more")}
        </button>
      )}
    </>
  );
}

/** The keys of missed questions that were new when this screen was opened, or became so since. They keep their place. */
function useFreshMissed(): ReadonlySet<string> {
  const app = useApp();
  const fresh = useRef(new Set<string>());
  const unseen = unseenMissed(app.items, app.now()).map(({ key }) => key);
  for (const key of unseen) fresh.current.add(key);
  const names = unseen.join(" ");
  useEffect(() => {
    if (names === "") return;
    const timer = setTimeout(() => void app.markRead(names.split(" ")), SEEN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [app, names]);
  const kept = new Set(app.items.map(({ key }) => key));
  return new Set([...fresh.current].filter((key) => kept.has(key)));
}

function Chips(props: { filter: Filter; onChoose: (filter: Filter) => void; missedCount: number }) {
  return (
    <div class="chips" role="group" aria-label={t("history.filters")}>
      {(Object.keys(FILTERS) as Filter[]).map((name) => (
        <button
          key={name}
          type="button"
          class="choose"
          aria-pressed={props.filter === name}
          onClick={() => props.onChoose(name)}
        >
          {t(FILTERS[name])}
          {name === "missed" && props.missedCount > 0 && <span class="number">{props.missedCount}</span>}
        </button>
      ))}
    </div>
  );
}

function NothingFound({ filter, search }: { filter: Filter; search: string }) {
  if (search) {
    return (
      <Empty icon="search" title={t("history.none_found")}>
        {t("history.none_says", { words: visibleText(search) })}
      </Empty>
    );
  }
  return (
    <Empty icon="history" title={t(filter === "all" ? "history.empty" : "history.none_found")}>
      {t(filter === "all" ? "history.empty.hint" : "history.none_of")}
    </Empty>
  );
}

function byDay(entries: readonly Entry[], now: number): [string, Entry[]][] {
  const days = new Map<string, Entry[]>();
  for (const entry of entries) {
    const day = dayOf(entry.item.ts, now);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}

function Lines({ title, entries, kind = "" }: { title: string; entries: readonly Entry[]; kind?: string }) {
  return (
    <section class={`past-day ${kind}`}>
      <h2>{title}</h2>
      <ul class="group">
        {entries.map((entry) => (
          <Line key={entry.item.key} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

function Line({ entry }: { entry: Entry }) {
  const { item } = entry;
  return (
    <li>
      <a class="past" href={hrefOf("history", item.key)}>
        <SenderAvatar source={item.source} />
        <span class="past-text">
          <strong dir="auto">{titleOf(entry)}</strong>
          <span>
            {item.type === "interaction" ? (
              <Verdict question={item} asked={entry.all.map(({ ts }) => ts)} />
            ) : (
              <Name text={sourceName(item.source)} />
            )}
          </span>
        </span>
        <time class="when" dateTime={new Date(item.ts * 1000).toISOString()}>
          {timeOf(item.ts)}
        </time>
      </a>
    </li>
  );
}

/** One line; the whole is a tap away. Our own words stand as they are: their marks keep names in their places. */
function titleOf({ item }: Entry): ComponentChildren {
  if (item.type === "token.changed") return changeWords(item).join(" ");
  if (item.type === "token.created") return t("history.token", { name: visibleText(item.payload.label) });
  const text = item.type === "interaction" ? item.payload.question : noteTitle(item);
  return <Visible text={text.split(/\s+/).join(" ")} keepLines={false} />;
}

function noteTitle(item: Exclude<NoteItem, { type: "token.created" | "token.changed" }>): string {
  switch (item.type) {
    case "notification":
    case "emergency":
      return item.payload.title ?? plainTextOf(item.payload);
    case "document":
      return item.payload.title ?? item.payload.filename;
    case "reminder":
      return item.payload.title ?? item.payload.message;
    case "ring":
      return item.payload.message ?? t("history.rang");
  }
}
