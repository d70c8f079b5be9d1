/** A ring or an emergency: loud and over the whole screen, until it is ended by hand or by time. */

import { type Alarm, isLoud, type NoteOf, roundOf } from "@reflecto/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { sourceName } from "../../items/outcome.ts";
import { Ringer } from "../../platform/sound.ts";
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
    <div class="ring" role="alertdialog" aria-modal="true" aria-label="Ringing">
      <p class="ring-kind">
        <Icon name="bell" /> Ringing since {timeOf(ring.receivedAt)}
      </p>
      <div class="ring-middle">
        <Bell />
        <h1>
          <Name text={sourceName(ring.source)} /> is ringing
        </h1>
        {ring.payload.message && (
          <p dir="auto">
            <Visible text={ring.payload.message} />
          </p>
        )}
      </div>
      <div class="ring-end">
        <EndButton onPress={() => app.end(ring)}>Stop</EndButton>
        <small>{isAudible ? "Stops on every device of yours" : SILENT_HINT}</small>
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
  const rounds = `Repeats every ${payload.retry} s until ${timeOf(payload.expires_at)}`;
  const silence = (event: MouseEvent) => {
    if (!isTooSoon(appearance, event)) void app.silence(emergency);
  };
  return (
    <div class="ring alarm" role="alertdialog" aria-modal="true" aria-label="Emergency">
      <p class="ring-kind">
        <Icon name="alert" /> Emergency
      </p>
      <div class="ring-middle">
        <Bell />
        <p class="ring-from">
          <span class="avatar" aria-hidden="true">
            {Array.from(name)[0]?.toLocaleUpperCase()}
          </span>
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
        {app.isPhone && <EndButton onPress={() => app.end(emergency)}>Acknowledge</EndButton>}
        <button type="button" class="ghost" onClick={silence}>
          Silence here, keep asking the others
        </button>
        <small>
          {rounds} · {ordinal(roundOf(emergency, app.now()))} time
        </small>
        {!isAudible && <small>{SILENT_HINT}</small>}
      </div>
    </div>
  );
}

const SILENT_HINT = "This browser stays silent until the page is touched";

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

function ordinal(count: number): string {
  const tens = count % 100;
  const suffix = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${count}${suffix}`;
}
