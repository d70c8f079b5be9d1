/** Makes this browser a device by a pairing: the phone vouches for it, and for everything it is told. */

import { makeKeys, openKeys, type StoredKeys } from "@reflecto/browser";
import {
  type DeviceClass,
  ForeignReplyError,
  type Invited,
  PairingDevice,
  PairingLieError,
  RefusedError,
  SystemClock,
  UnreachableError,
} from "@reflecto/core";
import { t } from "../i18n/index.ts";
import { apiFor } from "../platform/place.ts";
import { APP_BUILD, FEATURES } from "./enrol.ts";

/** A claim under way, with the keys that are kept if it succeeds. */
export interface Joining {
  pairing: PairingDevice;
  keys: StoredKeys;
}

export async function startJoining(invited: Invited, label: string, deviceClass: DeviceClass): Promise<Joining> {
  const keys = await makeKeys();
  const parts = {
    apiFor,
    keys: await openKeys(keys),
    clock: new SystemClock(),
  };
  const self = { label, type: "web", class: deviceClass, appBuild: APP_BUILD, features: FEATURES } as const;
  return { pairing: await PairingDevice.claim(parts, invited, self), keys };
}

/** What holds a hand answers questions; what stands on a desk shows them to nobody in particular. */
export function suggestedClass(userAgent: string): DeviceClass {
  return /Android|iPhone|iPad|Mobile/.test(userAgent) ? "phone" : "desktop";
}

/** What to tell the person; null where the server lied, which has words of its own. */
export function joinProblemOf(error: unknown): string {
  if (error instanceof PairingLieError) return `${error.message}.`;
  if (error instanceof ForeignReplyError) return t("problem.foreign");
  if (error instanceof UnreachableError) return t("problem.unreachable");
  if (error instanceof RangeError) return t("join.problem.code");
  if (!(error instanceof RefusedError)) return t("enrol.problem.keys");
  if (error.code === "pairing_closed") return t("join.problem.used");
  if (error.status === 404) return t("join.problem.old");
  if (error.status === 429) return t("enrol.problem.many", { seconds: error.retryAfterSeconds || 60 });
  return error.message;
}
