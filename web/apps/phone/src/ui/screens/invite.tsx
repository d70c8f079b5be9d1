/** Brings in a further device: a link that works once, as a QR code and as text. */

import { countdown, type InvitationResponse } from "@reflecto/core";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { CopyButton, WorkButton } from "../controls.tsx";
import { useApp, useTick } from "../hooks.ts";
import { QrCode } from "../qr-code.tsx";

export function Invite() {
  const app = useApp();
  const [invitation, setInvitation] = useState<InvitationResponse | null>(null);
  useTick(invitation !== null);
  const invite = async () => setInvitation((await app.session?.api.invite()) ?? null);
  const left = (invitation?.expires_at ?? 0) - app.now();
  if (!invitation || left <= 0) {
    return (
      <section class="group made">
        <p>{t(invitation ? "invite.over" : "invite.what")}</p>
        <WorkButton kind="primary" work={invite}>
          {t("invite.make")}
        </WorkButton>
      </section>
    );
  }
  return (
    <section class="group made invite">
      <p>{t("invite.scan")}</p>
      <QrCode text={invitation.url} />
      <p class="code">{invitation.code}</p>
      <div class="row">
        <CopyButton text={invitation.url} label={t("button.copy_link")} />
        <p class="time-left" role="timer">
          {t("time.left", { time: countdown(left) })}
        </p>
      </div>
    </section>
  );
}
