/** The frame around the screens: where am I, is the line up, where else can I go. */

import { foremostAlarm } from "@reflecto/core";
import { useEffect, useState } from "preact/hooks";
import { type Key, t } from "../i18n/index.ts";
import { addressOf } from "../platform/place.ts";
import type { App } from "../state/app.ts";
import { unseenMissed } from "../state/history.ts";
import { openQuestions, unreadCount } from "../state/lists.ts";
import { hrefOf, type Tab } from "../state/route.ts";
import { Arrival } from "./arrival.tsx";
import { Banners } from "./banners.tsx";
import { AppContext, useApp, useRoute, useTick } from "./hooks.ts";
import { Icon, Mark } from "./icons.tsx";
import { later } from "./later.tsx";
import { AlarmScreen } from "./screens/alarm.tsx";
import { partTitle } from "./screens/parts.ts";
import { Questions } from "./screens/questions.tsx";
import { Revoked } from "./screens/revoked.tsx";

const Enrol = later(() => import("./screens/enrol.tsx").then((file) => file.Enrol));
const History = later(() => import("./screens/history.tsx").then((file) => file.History));
const Inbox = later(() => import("./screens/inbox.tsx").then((file) => file.Inbox));
const Settings = later(() => import("./screens/settings.tsx").then((file) => file.Settings));
const Join = later(() => import("./screens/join.tsx").then((file) => file.Join));

export function Shell({ app }: { app: App }) {
  return (
    <AppContext.Provider value={app}>
      <Screens />
    </AppContext.Provider>
  );
}

function Screens() {
  const app = useApp();
  const [isEnrolling, setEnrolling] = useState(
    app.session === null || app.unfinished !== null || location.pathname === addressOf("/enroll"),
  );
  const [isJoining, setJoining] = useState(location.pathname === addressOf("/pair"));
  const screen = () => {
    if (isJoining) {
      return (
        <Join
          onDone={() => {
            setJoining(false);
            setEnrolling(app.session === null);
          }}
        />
      );
    }
    if (isEnrolling || !app.session) return <Enrol onDone={() => setEnrolling(false)} />;
    if (app.link.state === "revoked") return <Revoked onDone={() => setEnrolling(true)} />;
    return <Tabs />;
  };
  // Over every screen, the settings too: an alarm must not be missed.
  const alarm = foremostAlarm(app.items, app.now());
  useTick(alarm !== null);
  return (
    <>
      <div class="under" inert={alarm !== null}>
        {screen()}
      </div>
      {alarm && <AlarmScreen key={alarm.key} alarm={alarm} />}
    </>
  );
}

const TITLES: Readonly<Record<Tab, Key>> = {
  questions: "tab.questions",
  inbox: "tab.inbox",
  history: "tab.history",
  settings: "tab.settings",
};

function Tabs() {
  const app = useApp();
  const route = useRoute();
  const tabs = (Object.keys(TITLES) as Tab[]).filter((name) => app.isPhone || name !== "questions");
  const { tab, part } = tabs.includes(route.tab) ? route : { tab: "inbox" as Tab, part: null };
  const open = openQuestions(app.items, app.now());
  const waiting = open.filter(({ phase }) => phase === "open");
  const title = tab === "settings" ? partTitle(part, app.isPhone) : null;
  const isWithin = title !== null || (tab === "history" && part !== null);
  useTick(open.length > 0);
  const counts: Partial<Record<Tab, number>> = {
    questions: waiting.length,
    inbox: unreadCount(app.items, app.now()),
    history: app.isPhone ? unseenMissed(app.items, app.now()).length : 0,
  };
  // Where this tab of the browser is not the one looked at, its title is all there is.
  useEffect(() => {
    document.title = waiting.length > 0 ? `(${waiting.length}) Reflecto` : "Reflecto";
  }, [waiting.length]);
  return (
    <div class="frame">
      <nav class="tabs" aria-label={t("tab.list")}>
        <div class="brand">
          <Mark />
          <span>Reflecto</span>
        </div>
        {tabs.map((name) => (
          <TabLink key={name} tab={name} isCurrent={name === tab} count={counts[name] ?? 0} />
        ))}
      </nav>
      <main class={tab === "questions" ? "screen asking" : "screen"}>
        <header class="top">
          {isWithin && (
            <a class="back" href={hrefOf(tab)}>
              <Icon name="back" /> {t(TITLES[tab])}
            </a>
          )}
          <h1>{title ?? t(TITLES[tab])}</h1>
          <LinkStatus />
        </header>
        <Banners isAnswering={tab === "questions"} />
        {tab === "questions" && <Questions linkedId={part} />}
        {tab === "inbox" && <Inbox focusId={part} />}
        {tab === "history" && <History openKey={part} />}
        {tab === "settings" && <Settings part={part} />}
      </main>
      {app.isPhone && <Arrival isElsewhere={tab !== "questions"} />}
    </div>
  );
}

/** Of two digits, so that its ground stays round. */
const COUNT_MAX = 99;

function TabLink({ tab, isCurrent, count }: { tab: Tab; isCurrent: boolean; count: number }) {
  return (
    <a class="tab" href={hrefOf(tab)} aria-current={isCurrent ? "page" : undefined}>
      <span class="tab-icon">
        <Icon name={tab} />
        {count > 0 && (
          <span class={tab === "questions" ? "count urgent" : "count"} aria-hidden="true">
            {count > COUNT_MAX ? `${COUNT_MAX}+` : count}
          </span>
        )}
      </span>
      <span class="tab-label">
        {t(TITLES[tab])}
        {count > 0 && <span class="visually-hidden">{t("tab.new", { count })}</span>}
      </span>
    </a>
  );
}

function LinkStatus() {
  const app = useApp();
  const isLive = app.trouble === null && app.link.state === "live";
  const text = t(isLive ? "link.live" : app.trouble === null ? "link.connecting" : "link.none");
  return (
    <p class={isLive ? "link-status live" : "link-status"} role="status">
      <span class="dot" />
      {text}
    </p>
  );
}
