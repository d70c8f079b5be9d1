/** Brings in a further device: a link that works once, as a QR code and as text. */

import { countdown, type InvitationResponse } from "@reflecto/core";
import { useState } from "preact/hooks";
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
        <p>
          {invitation
            ? "That code is over. Make another when the new device is at hand."
            : "A code works once and for ten minutes. The new device gets its own keys, and answers questions like this one."}
        </p>
        <WorkButton kind="primary" work={invite}>
          Make a code
        </WorkButton>
      </section>
    );
  }
  return (
    <section class="group made invite">
      <p>Scan this with the new device’s camera, or open the link there.</p>
      <QrCode text={invitation.url} />
      <p class="code">{invitation.code}</p>
      <div class="row">
        <CopyButton text={invitation.url} label="Copy link" />
        <p class="time-left" role="timer">
          {countdown(left)} left
        </p>
      </div>
    </section>
  );
}
