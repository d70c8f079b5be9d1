/** A ring or an emergency: loud and over the whole screen, until it is ended by hand or by time. */

import { type Alarm, isLoud, type NoteOf, roundOf } from "@reflecto/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import { Ringer } from "../../platform/sound.ts";
import { SenderAvatar } from "../avatar.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { MessageText } from "../message.tsx";
import { isTooSoon, useAppearance } from "../tap-guard.ts";
import { Name, OutLink, timeOf, Visible } from "../text.tsx";

export function AlarmScreen({ alarm }: { alarm: Alarm }) {
  return alarm.type === "ring" ? <Ring ring={alarm} /> : <Emergency emergency={alarm} />;
}

function Ring({ ring }: { ring: NoteOf<"ring"> }) {
  const app = useApp();
  const isAudible = useSound(ring);
  return (
    <div class="ring" role="alertdialog" aria-modal="true" aria-label={t("ring.label")}>
      <p class="ring-kind">
        <Icon name="bell" /> {t("ring.since", { time: timeOf(ring.receivedAt) })}
      </p>
      <div class="ring-middle">
        <Bell />
        <h1>{t("ring.title", { name: sourceName(ring.source) })}</h1>
        {ring.payload.message && (
          <p dir="auto">
            <Visible text={ring.payload.message} />
          </p>
        )}
      </div>
      <div class="ring-end">
        <EndButton onPress={() => app.end(ring)}>{t("ring.stop")}</EndButton>
        <small>{t(isAudible ? "ring.everywhere" : "ring.silent")}</small>
      </div>
    </div>
  );
}

function Emergency({ emergency }: { emergency: NoteOf<"emergency"> }) {
  const app = useApp();
  const isAudible = useSound(emergency);
  const appearance = useAppearance();
  const { payload } = emergency;
  const name = sourceName(emergency.source);
  const round = roundOf(emergency, app.now());
  const silence = (event: MouseEvent) => {
    if (!isTooSoon(appearance, event)) void app.silence(emergency);
  };
  return (
    <div class="ring alarm" role="alertdialog" aria-modal="true" aria-label={t("emergency.label")}>
      <p class="ring-kind">
        <Icon name="alert" /> {t("emergency.label")}
      </p>
      <div class="ring-middle">
        <Bell />
        <p class="ring-from">
          <SenderAvatar source={emergency.source} />
          <strong>
            <Name text={name} />
          </strong>
        </p>
        {payload.title && (
          <h1 dir="auto">
            <Visible text={payload.title} />
          </h1>
        )}
        <MessageText payload={payload} isLead={payload.title === null} from={name} />
        {payload.url && <OutLink url={payload.url} label={payload.url_title} />}
      </div>
      <div class="ring-end">
        {app.isPhone && <EndButton onPress={() => app.end(emergency)}>{t("emergency.acknowledge")}</EndButton>}
        <button type="button" class="ghost" onClick={silence}>
          {t("emergency.silence")}
        </button>
        <small>{t("emergency.rounds", { seconds: payload.retry, time: timeOf(payload.expires_at), round })}</small>
        {!isAudible && <small>{t("ring.silent")}</small>}
      </div>
    </div>
  );
}

function Bell() {
  return (
    <span class="ring-bell" aria-hidden="true">
      <Icon name="bell" />
    </span>
  );
}

function EndButton({ onPress, children }: { onPress: () => Promise<void>; children: string }) {
  const button = useRef<HTMLButtonElement>(null);
  const appearance = useAppearance();
  useEffect(() => button.current?.focus(), []);
  return (
    <button ref={button} type="button" onClick={(event) => isTooSoon(appearance, event) || void onPress()}>
      {children}
    </button>
  );
}

/** Sounds while the alarm does. False where the browser allows no sound yet. */
function useSound(alarm: Alarm): boolean {
  const app = useApp();
  const [isAudible, setAudible] = useState(true);
  const [ringer] = useState(() => new Ringer());
  const isNowLoud = isLoud(alarm, app.now());
  useEffect(() => {
    if (!isNowLoud) return;
    void ringer.start().then(setAudible);
    return () => ringer.stop();
  }, [ringer, isNowLoud]);
  return isAudible;
}
