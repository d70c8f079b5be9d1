/** What enrolling and pairing have in common. */

import { CopyButton, WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";

export function HomeScreenHint({ code }: { code: string }) {
  return (
    <div class="notice">
      <p>
        <strong>On an iPhone or iPad, install first.</strong> Notifications only work in the installed app, and it keeps
        its own keys: tap Share, then “Add to Home Screen”, open Reflecto there and enter the code.
      </p>
      {code && <CopyButton text={code} label={`Copy ${code}`} />}
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
      <h1>Let it reach you</h1>
      <p>
        {app.isPhone
          ? "Questions come as notifications, and you can answer from there. "
          : "What is sent to you comes as notifications, also while this page is closed. "}
        What they say is encrypted for this device alone: the push service cannot read it.
      </p>
      <WorkButton
        kind="primary"
        work={async () => {
          await app.notifications.turnOn();
          onNext();
        }}
      >
        Allow notifications
      </WorkButton>
      <button type="button" class="button" onClick={onNext}>
        Not now
      </button>
    </section>
  );
}

export function isIosOutsideHomeScreen(): boolean {
  const isIos =
    /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.platform) && navigator.maxTouchPoints > 1);
  return isIos && !matchMedia("(display-mode: standalone)").matches;
}
