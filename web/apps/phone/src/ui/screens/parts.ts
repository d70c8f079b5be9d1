/** The parts of the settings that are screens of their own. */

import { type Key, t } from "../../i18n/index.ts";
import type { IconName } from "../icons.tsx";

const PARTS: readonly { name: string; title: Key; hint: Key; icon: IconName }[] = [
  { name: "tokens", title: "settings.tokens", hint: "settings.tokens.hint", icon: "key" },
  { name: "devices", title: "settings.devices", hint: "settings.devices.hint", icon: "phone" },
  { name: "pair", title: "settings.pair", hint: "settings.pair.hint", icon: "pair" },
  { name: "invite", title: "settings.invite", hint: "settings.invite.hint", icon: "invite" },
];

/** A desktop has a say over itself alone. */
export const partsOf = (isPhone: boolean) => PARTS.filter(({ name }) => isPhone || name === "devices");

/** The title of a part, null where there is none of that name. */
export function partTitle(part: string | null, isPhone: boolean): string | null {
  const found = partsOf(isPhone).find(({ name }) => name === part);
  return found ? t(found.title) : null;
}
