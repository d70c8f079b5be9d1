/** The owner's devices. */

import { type PeerState, visibleText } from "@reflecto/core";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { listDevices } from "../../state/peers.ts";
import { ConfirmButton, Problem } from "../controls.tsx";
import { messageOf, useApp, useLoaded } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { Name, whenOf } from "../text.tsx";

export function Devices() {
  const app = useApp();
  const devices = useLoaded(async () => (app.session ? listDevices(app.session) : []));
  const selfId = app.session?.device.deviceId;
  return (
    <div class="settings">
      <RenameForm onRenamed={devices.reload} />
      {devices.error && <Problem text={devices.error} />}
      {devices.value && (
        <ul class="group">
          {devices.value.map((device) => (
            <DeviceRow
              key={device.device_id}
              device={device}
              isSelf={device.device_id === selfId}
              isOnlyPhone={isLastPhone(device, devices.value ?? [])}
              onRemoved={devices.reload}
            />
          ))}
        </ul>
      )}
      {app.isPhone && <DisconnectEverything />}
    </div>
  );
}

function DisconnectEverything() {
  const app = useApp();
  return (
    <section class="group danger-zone">
      <div class="group-row wrap">
        <span class="grow">
          <strong>{t("devices.disconnect.title")}</strong>
          <small>{t("devices.disconnect.hint")}</small>
        </span>
        <ConfirmButton
          label={t("devices.disconnect")}
          question={t("devices.disconnect.question")}
          confirm={t("devices.disconnect.confirm")}
          work={async () => {
            await app.session?.api.disconnect();
            await app.forget();
          }}
        />
      </div>
    </section>
  );
}

/** Without it nobody could answer, and nothing but the server's own command lets another phone in. */
function isLastPhone(device: PeerState, all: readonly PeerState[]): boolean {
  return device.class === "phone" && all.filter((other) => other.class === "phone").length === 1;
}

interface DeviceRowProps {
  device: PeerState;
  isSelf: boolean;
  isOnlyPhone: boolean;
  onRemoved: () => Promise<void>;
}

function DeviceRow(props: DeviceRowProps) {
  const app = useApp();
  const { device, isSelf } = props;
  return (
    <li class="group-row wrap">
      <Icon name={device.class === "phone" ? "phone" : "desktop"} />
      <span class="grow">
        <strong>
          <Name text={device.label} />
          {isSelf && <span class="chip">{t("devices.self")}</span>}
        </strong>
        <small>
          {device.reachable ? (
            <>
              <span class="dot live" /> {t("devices.connected")}
            </>
          ) : device.last_seen_at === null ? (
            t("devices.unseen")
          ) : (
            whenOf("devices.seen", device.last_seen_at, app.now())
          )}
          {` · ${t(device.class === "phone" ? "devices.phone" : "devices.desktop")}`}
        </small>
      </span>
      {(isSelf || app.isPhone) && (
        <ConfirmButton
          label={t("devices.unpair")}
          question={unpairQuestion(props)}
          confirm={t("devices.unpair.confirm")}
          work={async () => {
            await app.session?.api.removeDevice(isSelf ? "self" : device.device_id);
            if (isSelf) await app.forget();
            else await props.onRemoved();
          }}
        />
      )}
    </li>
  );
}

function unpairQuestion({ device, isSelf, isOnlyPhone }: DeviceRowProps): string {
  if (!isSelf) return t("devices.unpair.other", { name: visibleText(device.label) });
  return t(isOnlyPhone ? "devices.unpair.last" : "devices.unpair.self");
}

function RenameForm({ onRenamed }: { onRenamed: () => Promise<void> }) {
  const app = useApp();
  const [label, setLabel] = useState(app.session?.device.label ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    try {
      await app.rename(label.trim());
      await onRenamed();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <form class="group made" onSubmit={submit}>
      <label class="field">
        {t(app.isPhone ? "name.phone" : "name.device")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button" aria-disabled={label.trim() === app.session?.device.label}>
        {t("button.rename")}
      </button>
    </form>
  );
}
