/** Notifications, documents, reminders, new tokens and what other phones changed of senders, newest first. */

import { type AlarmLife, isAlarm, isDemanding, lifeOf, type NoteOf, visibleText } from "@reflecto/core";
import { useEffect, useRef } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import { changeWords } from "../../items/senders.ts";
import { inbox, type NoteItem } from "../../state/lists.ts";
import { isMuted } from "../../state/tokens.ts";
import { SenderAvatar } from "../avatar.tsx";
import { CopyButton, Empty, WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon, type IconName } from "../icons.tsx";
import { later } from "../later.tsx";
import { MessageText } from "../message.tsx";
import { Name, OutLink, timeOf, Visible, When } from "../text.tsx";

export function Inbox({ focusId }: { focusId: string | null }) {
  const app = useApp();
  const items = inbox(app.items, app.now());
  const unread = items.filter((item) => !item.isRead && !(isAlarm(item) && isDemanding(item, app.now())));
  const fresh = useRef(new Set<string>());
  for (const { key } of unread) fresh.current.add(key);
  useEffect(() => {
    if (unread.length > 0) void app.markRead(unread.map(({ key }) => key));
  });
  if (items.length === 0) {
    return (
      <Empty icon="inbox" title={t("inbox.empty")}>
        {t("inbox.empty.hint")}
      </Empty>
    );
  }
  return (
    <div class="cards">
      {items.map((item) => (
        <NoteCard key={item.key} item={item} isFresh={fresh.current.has(item.key)} isFocused={item.id === focusId} />
      ))}
    </div>
  );
}

const ICONS: Partial<Record<NoteItem["type"], IconName>> = {
  document: "document",
  reminder: "late",
  ring: "bell",
  emergency: "alert",
  "token.created": "key",
  "token.changed": "key",
};

export function NoteCard({ item, isFresh, isFocused }: { item: NoteItem; isFresh?: boolean; isFocused?: boolean }) {
  const app = useApp();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isFocused) card.current?.scrollIntoView({ block: "center" });
  }, [isFocused]);
  const priority = item.type === "notification" ? item.payload.priority : "default";
  const icon = ICONS[item.type];
  return (
    <article ref={card} class={`card note ${priority} ${isFocused ? "focused" : ""}`}>
      <header class="card-head">
        <p class="from">
          <SenderAvatar source={item.source} isSmall />
          {isFresh && <span class="dot live" title={t("inbox.new")} />}
          {icon && <Icon name={icon} />}
          <Name text={sourceName(item.source)} />
          {(priority === "high" || priority === "urgent") && (
            <span class="priority">{t(priority === "high" ? "priority.high" : "priority.urgent")}</span>
          )}
        </p>
        <When ts={sentAt(item)} now={app.now()} />
      </header>
      <NoteBody item={item} />
    </article>
  );
}

/** A sender may name another time than that of its call. */
function sentAt(item: NoteItem): number {
  const isDated = item.type === "notification" || item.type === "emergency";
  return (isDated && item.payload.timestamp) || item.ts;
}

function NoteBody({ item }: { item: NoteItem }) {
  switch (item.type) {
    case "notification":
      return <Notification payload={item.payload} from={sourceName(item.source)} />;
    case "emergency":
      return <EmergencyNote emergency={item} />;
    case "document":
      return <Document payload={item.payload} />;
    case "reminder":
      return (
        <>
          {item.payload.title ? <Title text={item.payload.title} /> : <OwnTitle>{t("inbox.reminder")}</OwnTitle>}
          <Paragraph text={item.payload.message} />
          {item.payload.late && <p class="aside">{t("inbox.reminder.late")}</p>}
        </>
      );
    case "ring":
      return (
        <>
          <OwnTitle>{t("history.rang")}</OwnTitle>
          {item.payload.message && <Paragraph text={item.payload.message} />}
        </>
      );
    case "token.created":
      return <NewTokenNote payload={item.payload} />;
    case "token.changed":
      return <ChangeNote change={item} />;
  }
}

function Title({ text }: { text: string }) {
  return (
    <h2 class="note-title" dir="auto">
      <Visible text={text} />
    </h2>
  );
}

/** Our own words: the marks in them keep the names of others in their places. */
function OwnTitle({ children }: { children: string }) {
  return <h2 class="note-title">{children}</h2>;
}

function Paragraph({ text }: { text: string }) {
  return (
    <p class="note-text" dir="auto">
      <Visible text={text} />
    </p>
  );
}

type PayloadOf<Type extends NoteItem["type"]> = Extract<NoteItem, { type: Type }>["payload"];

function Notification({ payload, from }: { payload: PayloadOf<"notification">; from: string }) {
  return (
    <>
      {payload.title && <Title text={payload.title} />}
      {payload.markdown ? <Markdown text={payload.message} /> : <MessageText payload={payload} from={from} />}
      {payload.tags.length > 0 && (
        <ul class="tags" aria-label={t("inbox.tags")}>
          {payload.tags.map((tag) => (
            <li key={tag}>
              <Name text={tag} />
            </li>
          ))}
        </ul>
      )}
      {(payload.url || payload.actions.length > 0) && (
        <div class="links">
          {payload.url && <OutLink url={payload.url} label={payload.url_title} />}
          {payload.actions.map((action) => (
            <OutLink key={action.label} url={action.url} label={action.label} />
          ))}
        </div>
      )}
    </>
  );
}

function EmergencyNote({ emergency }: { emergency: NoteOf<"emergency"> }) {
  const app = useApp();
  const { payload } = emergency;
  const { state, outcome, by } = lifeOf(emergency, app.now());
  const isOn = state === "on";
  return (
    <>
      {payload.title && <Title text={payload.title} />}
      <MessageText payload={payload} from={sourceName(emergency.source)} />
      {payload.url && (
        <div class="links">
          <OutLink url={payload.url} label={payload.url_title} />
        </div>
      )}
      <p class={isOn ? "verdict late" : "verdict"}>
        {isOn && t("emergency.nobody", { time: timeOf(payload.expires_at) })}
        {state === "ending" && t("emergency.kept")}
        {state === "over" && by && t("emergency.acknowledged_on", { device: visibleText(by, { keepLines: false }) })}
        {state === "over" && !by && t(ENDINGS[outcome ?? "expired"])}
      </p>
      {isOn && app.isPhone && (
        <div class="links">
          <button type="button" class="button primary" onClick={() => app.end(emergency)}>
            {t("emergency.acknowledge")}
          </button>
        </div>
      )}
    </>
  );
}

const ENDINGS: Readonly<Record<NonNullable<AlarmLife["outcome"]>, Key>> = {
  acknowledged: "emergency.acknowledged",
  cancelled: "emergency.cancelled",
  expired: "emergency.expired",
  stopped: "emergency.acknowledged",
};

/** The parser is loaded with the first message that needs it; until then its source is shown. */
const Markdown = later(() => import("../markdown.tsx").then(({ MarkdownText }) => MarkdownText), Paragraph);

function Document({ payload }: { payload: PayloadOf<"document"> }) {
  const size = new TextEncoder().encode(payload.content).length;
  return (
    <>
      <Title text={payload.title ?? payload.filename} />
      <details class="preview">
        <summary>
          <bdi>{payload.filename}</bdi> · {sizeOf(size)}
        </summary>
        <pre dir="auto">
          <Visible text={payload.content} />
        </pre>
      </details>
      <div class="links">
        <button type="button" class="button" onClick={() => save(payload.filename, payload.content)}>
          <Icon name="save" /> {t("inbox.save")}
        </button>
        <CopyButton text={payload.content} label={t("inbox.copy_text")} />
      </div>
    </>
  );
}

function NewTokenNote({ payload }: { payload: PayloadOf<"token.created"> }) {
  const app = useApp();
  return (
    <>
      <OwnTitle>{t("history.token", { name: visibleText(payload.label) })}</OwnTitle>
      <p class="note-text">{t("inbox.token.hint")}</p>
      <div class="links">
        <CopyButton text={payload.token} label={t("token.copy")} />
        <button type="button" class="button small" onClick={() => app.eraseToken(payload.id)}>
          {t("inbox.token.erase")}
        </button>
      </div>
    </>
  );
}

/** What another phone has made of a sender; its mute ends here with one tap. */
function ChangeNote({ change }: { change: NoteOf<"token.changed"> }) {
  const app = useApp();
  const { token_id, by } = change.payload;
  const until = app.senders[token_id]?.mutedUntil ?? null;
  const canUnmute = change.payload.muted_until != null && isMuted(until, app.now()) && app.isPhone;
  return (
    <>
      {changeWords(change).map((words) => (
        <OwnTitle key={words}>{words}</OwnTitle>
      ))}
      <p class="note-text">{t("sender.by", { device: visibleText(by, { keepLines: false }) })}</p>
      {canUnmute && (
        <div class="links">
          <WorkButton work={() => app.changeToken(token_id, { muted_until: null })}>{t("tokens.unmute")}</WorkButton>
        </div>
      )}
    </>
  );
}

function sizeOf(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(bytes < 10_240 ? 1 : 0)} KB`;
}

/** Saved as plain text whatever its name says: nothing here is ever run or rendered. */
function save(filename: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
