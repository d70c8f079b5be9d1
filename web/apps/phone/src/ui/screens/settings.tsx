/** The settings: a list of parts, each a screen of its own. */

import { useEffect, useState } from "preact/hooks";
import { SERVER_ADDRESS } from "../../platform/place.ts";
import type { PushState } from "../../platform/push.ts";
import { chooseTheme, recallTheme, type Theme } from "../../platform/theme.ts";
import { APP_BUILD } from "../../state/enrol.ts";
import { hrefOf } from "../../state/route.ts";
import { ConfirmButton, WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon, type IconName } from "../icons.tsx";
import { Devices } from "./devices.tsx";
import { Invite } from "./invite.tsx";
import { Pair } from "./pair.tsx";
import { Tokens } from "./tokens.tsx";

const PARTS: readonly { name: string; title: string; hint: string; icon: IconName }[] = [
  { name: "tokens", title: "Tokens", hint: "Who may ask and send", icon: "key" },
  { name: "devices", title: "Devices", hint: "Rename, unpair, disconnect", icon: "phone" },
  { name: "pair", title: "Pair a device", hint: "A computer, tablet or second phone", icon: "pair" },
  { name: "invite", title: "Make a setup code", hint: "For a terminal or another app", icon: "invite" },
];

/** A desktop has a say over itself alone. */
const partsOf = (isPhone: boolean) => PARTS.filter(({ name }) => isPhone || name === "devices");

/** The title of a part, null where there is none of that name. */
export function partTitle(part: string | null, isPhone: boolean): string | null {
  return partsOf(isPhone).find(({ name }) => name === part)?.title ?? null;
}

export function Settings({ part }: { part: string | null }) {
  const { isPhone } = useApp();
  switch (partTitle(part, isPhone) && part) {
    case "tokens":
      return <Tokens />;
    case "devices":
      return <Devices />;
    case "pair":
      return <Pair />;
    case "invite":
      return <Invite />;
    default:
      return <Overview />;
  }
}

function Overview() {
  const app = useApp();
  return (
    <div class="settings">
      <nav class="group" aria-label="Settings">
        {partsOf(app.isPhone).map(({ name, title, hint, icon }) => (
          <a key={name} class="group-row" href={hrefOf("settings", name)}>
            <Icon name={icon} />
            <span class="grow">
              <strong>{title}</strong>
              <small>{hint}</small>
            </span>
            <Icon name="next" />
          </a>
        ))}
      </nav>
      <Notifications />
      <Appearance />
      <section class="group">
        <div class="group-row">
          <span class="grow">
            <strong>History</strong>
            <small>Kept on this device only, for 90 days</small>
          </span>
          <ConfirmButton
            label="Clear"
            question="Clear the history on this device?"
            confirm="Clear it"
            work={() => app.clearHistory()}
          />
        </div>
      </section>
      <p class="fine">
        <bdi>{SERVER_ADDRESS.replace(/^https?:\/\//, "")}</bdi> · app build {APP_BUILD}
      </p>
    </div>
  );
}

const PUSH_TEXTS: Readonly<Record<PushState, string>> = {
  on: "On. The server can reach this phone while the app is closed.",
  checking: "Allowed. Asking the browser for an address to push to…",
  unasked: "Not allowed yet. Questions only show while the app is open.",
  blocked: "Blocked in the browser’s settings for this site.",
  unsupported: "This browser cannot receive pushes here. On an iPhone, add the app to the home screen.",
  "server-off": "Allowed. This server does not push, so keep the app open.",
  unreachable: "Allowed, but the push service cannot be reached now. It is tried again at every start.",
};

function Notifications() {
  const { notifications } = useApp();
  const { push } = notifications;
  const canTurnOn = push === "unasked" || push === "unreachable";
  return (
    <section class="group">
      <div class="group-row">
        <Icon name="bell" />
        <span class="grow">
          <strong>Notifications</strong>
          <small>{PUSH_TEXTS[push]}</small>
        </span>
        {canTurnOn && (
          <WorkButton work={() => notifications.turnOn()}>{push === "unasked" ? "Allow" : "Try again"}</WorkButton>
        )}
      </div>
    </section>
  );
}

const THEMES: readonly [Theme, string][] = [
  ["auto", "Auto"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function Appearance() {
  const { database } = useApp();
  const [theme, setTheme] = useState<Theme>("auto");
  useEffect(() => void recallTheme(database).then(setTheme), [database]);
  return (
    <section class="group">
      <div class="group-row wrap">
        <span class="grow">
          <strong>Appearance</strong>
          <small>Text follows the size set in your browser</small>
        </span>
        <div class="segments" role="group" aria-label="Appearance">
          {THEMES.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={theme === name}
              onClick={() => {
                setTheme(name);
                void chooseTheme(database, name);
              }}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
    </section>
  );
}
