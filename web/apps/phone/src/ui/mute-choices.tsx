/** For how long a sender may be muted, each a tap. */

import { type Key, t } from "../i18n/index.ts";
import { MUTES, type Mute, type MutedUntil, mutedUntil } from "../state/tokens.ts";
import { WorkButton } from "./controls.tsx";
import { useApp } from "./hooks.ts";

const WORDS: Readonly<Record<Mute, Key>> = {
  quarter: "tokens.mute.quarter",
  hour: "tokens.mute.hour",
  tomorrow: "tokens.mute.tomorrow",
  forever: "tokens.mute.forever",
};

export function MuteChoices({ onMute }: { onMute: (until: MutedUntil) => Promise<void> }) {
  const app = useApp();
  return (
    <fieldset class="mutes">
      <legend>{t("tokens.mute")}</legend>
      <small>{t("tokens.mute.hint")}</small>
      <div class="row">
        {MUTES.map((mute) => (
          <WorkButton key={mute} work={() => onMute(mutedUntil(mute, app.now()))}>
            {t(WORDS[mute])}
          </WorkButton>
        ))}
      </div>
    </fieldset>
  );
}
