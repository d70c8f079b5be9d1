/** Text of others: whole, in its own direction, with nothing hidden in it. */

import { readLink, visibleRuns } from "@reflecto/core";
import type { ComponentChildren } from "preact";
import { rich, spokenLocale, t } from "../i18n/index.ts";

export { timeOf } from "../i18n/dates.ts";

/** For an element of its own, which takes the direction of the text with `dir="auto"`. */
export function Visible({ text, keepLines = true }: { text: string; keepLines?: boolean }) {
  return visibleRuns(text, { keepLines }).map((run) =>
    run.isHidden ? (
      <span class="hidden-char" title={t("text.hidden")}>
        {run.text}
      </span>
    ) : (
      run.text
    ),
  );
}

/** For a name within other text, whose direction it neither takes nor changes. */
export function Name({ text }: { text: string }) {
  return (
    <bdi>
      <Visible text={text} keepLines={false} />
    </bdi>
  );
}

/** When something was sent: the time today, the day before that. */
export function When({ ts, now }: { ts: number; now: number }) {
  const date = new Date(ts * 1000);
  const isToday = new Date(now * 1000).toDateString() === date.toDateString();
  const shown = isToday
    ? date.toLocaleTimeString(spokenLocale(), { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString(spokenLocale(), { day: "numeric", month: "short" });
  return (
    <time class="when" dateTime={date.toISOString()} title={date.toLocaleString(spokenLocale())}>
      {shown}
    </time>
  );
}

/** A sentence with the time of something in it, as its `<when>`. */
export function whenOf(key: "devices.seen" | "tokens.used", ts: number, now: number): ComponentChildren {
  return rich<ComponentChildren>(key, { when: () => <When ts={ts} now={now} /> });
}

/** A link out: what it is called, and where it really leads. */
export function OutLink({ url, label }: { url: string; label: ComponentChildren }) {
  const target = readLink(url)?.target;
  if (!target) return <Visible text={url} />;
  return (
    <a class="out-link" href={url} target="_blank" rel="noopener noreferrer">
      {label && (
        <>
          <span class="out-link-label">
            {typeof label === "string" ? <Name text={label} /> : <bdi>{label}</bdi>}
          </span>{" "}
        </>
      )}
      <span class="host">
        <bdi>{target}</bdi> ↗
      </span>
    </a>
  );
}
