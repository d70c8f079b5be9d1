/** What is not as it should be: one banner, the worst, with one way out; the others are a tap away. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { timeOf } from "../i18n/dates.ts";
import { t } from "../i18n/index.ts";
import { acceptEviction, keepStorage } from "../platform/storage.ts";
import { type Banner, bannersOf } from "../state/banners.ts";
import { hrefOf } from "../state/route.ts";
import { useApp, useTick } from "./hooks.ts";
import { Icon, type IconName } from "./icons.tsx";

/** `isAnswering`: the questions are on the screen. */
export function Banners({ isAnswering }: { isAnswering: boolean }) {
  const app = useApp();
  const [isOpen, setOpen] = useState(false);
  useTick(app.trouble !== null);
  const trouble = app.trouble && { kind: app.trouble, since: app.troubleSince ?? app.now() };
  const { isOutdated, isEvictable } = app;
  const found = bannersOf({
    push: app.notifications.push,
    trouble,
    isEvictable,
    isOutdated,
    isAnswering,
    now: app.now(),
  });
  const shown = isOpen ? found : found.slice(0, 1);
  return (
    <div class="banners" role="status">
      {shown.map((banner) => (
        <OneBanner key={banner} banner={banner} />
      ))}
      {found.length > 1 && (
        <button type="button" class="button quiet small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("banner.fewer") : t("banner.more", { count: found.length - 1 })}
        </button>
      )}
    </div>
  );
}

function OneBanner({ banner }: { banner: Banner }) {
  const app = useApp();
  switch (banner) {
    case "blocked":
      return (
        <Notice kind="stop" icon="silent" title={t("banner.blocked")} text={t("banner.blocked.hint")}>
          <a class="button quiet small" href={hrefOf("settings", "notifications")}>
            {t("banner.blocked.out")}
          </a>
        </Notice>
      );
    case "foreign":
      return (
        <Notice icon="offline" title={t("banner.foreign")} text={t("banner.foreign.hint")}>
          <Out label={t("banner.retry")} onPress={() => app.retry()} />
        </Notice>
      );
    case "offline":
      return (
        <Notice
          icon="offline"
          title={t("banner.offline", { time: timeOf(app.troubleSince ?? app.now()) })}
          text={t("banner.offline.hint")}
        >
          <Out label={t("banner.retry")} onPress={() => app.retry()} />
        </Notice>
      );
    case "evictable":
      return <Evictable />;
    case "outdated":
      return (
        <Notice kind="calm" icon="renew" title={t("banner.outdated")} text={t("banner.outdated.hint")}>
          <Out label={t("banner.outdated.out")} onPress={() => location.reload()} />
        </Notice>
      );
  }
}

function Evictable() {
  const app = useApp();
  const [isRefused, setRefused] = useState(false);
  const keep = async () => {
    if (await keepStorage()) await app.lookAtStorage();
    else setRefused(true);
  };
  const accept = async () => {
    await acceptEviction(app.database, app.now());
    await app.lookAtStorage();
  };
  return (
    <Notice
      icon="storage"
      title={t("banner.evictable")}
      text={t(isRefused ? "banner.evictable.refused" : "banner.evictable.hint")}
    >
      {isRefused ? (
        <Out label={t("banner.evictable.accept")} onPress={accept} />
      ) : (
        <Out label={t("banner.evictable.out")} onPress={keep} />
      )}
    </Notice>
  );
}

function Notice(props: {
  title: string;
  text: string;
  icon: IconName;
  kind?: "stop" | "calm";
  children: ComponentChildren;
}) {
  return (
    <div class={`banner ${props.kind ?? ""}`}>
      <Icon name={props.icon} />
      <p>
        <strong>{props.title}</strong> <span>{props.text}</span>
      </p>
      {props.children}
    </div>
  );
}

function Out({ label, onPress }: { label: string; onPress: () => unknown }) {
  return (
    <button type="button" class="button quiet small" onClick={onPress}>
      {label}
    </button>
  );
}
