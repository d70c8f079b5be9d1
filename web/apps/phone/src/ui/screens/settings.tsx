/** The settings: a list of parts, each a screen of its own. */

import { type Key, t } from "../../i18n/index.ts";
import { LANGUAGES } from "../../i18n/languages.ts";
import { SERVER_ADDRESS } from "../../platform/place.ts";
import type { PushState } from "../../platform/push.ts";
import { APP_BUILD } from "../../state/enrol.ts";
import { hrefOf } from "../../state/route.ts";
import { askFromHere } from "../../state/self-question.ts";
import { ConfirmButton, WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { later } from "../later.tsx";
import { partsOf, partTitle } from "./parts.ts";
import { AppearanceRow, InstallRow, LanguageRow } from "./preferences.tsx";

const Devices = later(() => import("./devices.tsx").then((file) => file.Devices));
const Invite = later(() => import("./invite.tsx").then((file) => file.Invite));
const Pair = later(() => import("./pair.tsx").then((file) => file.Pair));
const Tokens = later(() => import("./tokens.tsx").then((file) => file.Tokens));

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
      <nav class="group" aria-label={t("tab.settings")}>
        {partsOf(app.isPhone).map(({ name, title, hint, icon }) => (
          <a key={name} class="group-row" href={hrefOf("settings", name)}>
            <Icon name={icon} />
            <span class="grow">
              <strong>{t(title)}</strong>
              <small>{t(hint)}</small>
            </span>
            <Icon name="next" />
          </a>
        ))}
      </nav>
      <Notifications />
      {app.isPhone && <TestRow />}
      {Object.keys(LANGUAGES).length > 1 && <LanguageRow />}
      <AppearanceRow />
      <InstallRow />
      <section class="group">
        <div class="group-row">
          <span class="grow">
            <strong>{t("settings.history")}</strong>
            <small>{t("settings.history.hint")}</small>
          </span>
          <ConfirmButton
            label={t("settings.history.clear")}
            question={t("settings.history.question")}
            confirm={t("settings.history.confirm")}
            work={() => app.clearHistory()}
          />
        </div>
      </section>
      <p class="fine">
        <bdi>{SERVER_ADDRESS.replace(/^https?:\/\//, "")}</bdi> · {t("settings.build", { build: APP_BUILD })}
      </p>
    </div>
  );
}

/** The whole way, there and back: from a token through the server to this phone. */
function TestRow() {
  const app = useApp();
  const ask = async () => {
    if (app.session) await askFromHere(app.session);
    location.hash = hrefOf("questions");
  };
  return (
    <section class="group">
      <div class="group-row wrap">
        <Icon name="questions" />
        <span class="grow">
          <strong>{t("settings.test")}</strong>
          <small>{t("settings.test.hint")}</small>
        </span>
        <WorkButton work={ask}>{t("settings.test.do")}</WorkButton>
      </div>
    </section>
  );
}

const PUSH_TEXTS: Readonly<Record<PushState, Key>> = {
  on: "push.on",
  checking: "push.checking",
  unasked: "push.unasked",
  blocked: "push.blocked",
  unsupported: "push.unsupported",
  "server-off": "push.server_off",
  unreachable: "push.unreachable",
};

function Notifications() {
  const { notifications } = useApp();
  const { push } = notifications;
  const canTurnOn = push === "unasked" || push === "unreachable";
  return (
    <section class="group">
      <div class="group-row wrap">
        <Icon name="bell" />
        <span class="grow">
          <strong>{t("settings.notifications")}</strong>
          <small>{t(PUSH_TEXTS[push])}</small>
        </span>
        {canTurnOn && (
          <WorkButton work={() => notifications.turnOn()}>
            {t(push === "unasked" ? "button.allow" : "button.try_again")}
          </WorkButton>
        )}
      </div>
      {push === "blocked" && (
        <div class="group-row wrap">
          <span class="grow">
            <strong>{t("settings.notifications.unblock")}</strong>
            <small>{t("settings.notifications.unblock.hint")}</small>
          </span>
          <WorkButton work={() => notifications.turnOn()}>{t("settings.notifications.recheck")}</WorkButton>
        </div>
      )}
    </section>
  );
}
