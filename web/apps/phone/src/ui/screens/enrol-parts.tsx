/** What enrolling and pairing have in common. */

import type { ComponentChildren } from "preact";
import { rich, t } from "../../i18n/index.ts";
import { CopyButton, WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";

export function HomeScreenHint({ code }: { code: string }) {
  return (
    <div class="notice">
      <p>{rich<ComponentChildren>("ios.hint", { b: (inner) => <strong>{inner}</strong> })}</p>
      {code && <CopyButton text={code} label={t("ios.copy", { code })} />}
    </div>
  );
}

export function NotificationStep({ onNext }: { onNext: () => void }) {
  const app = useApp();
  return (
    <section class="form">
      <div class="big-icon">
        <Icon name="bell" />
      </div>
      <h1>{t("notify.title")}</h1>
      <p>
        {t(app.isPhone ? "notify.phone" : "notify.desktop")} {t("notify.sealed")}
      </p>
      <WorkButton
        kind="primary"
        work={async () => {
          await app.notifications.turnOn();
          onNext();
        }}
      >
        {t("notify.allow")}
      </WorkButton>
      <button type="button" class="button" onClick={onNext}>
        {t("button.not_now")}
      </button>
    </section>
  );
}

export function isIosOutsideHomeScreen(): boolean {
  const isIos =
    /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.platform) && navigator.maxTouchPoints > 1);
  return isIos && !matchMedia("(display-mode: standalone)").matches;
}
