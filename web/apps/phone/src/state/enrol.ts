/** Makes this browser a device: keys here, their public halves to the server. */

import {
  type Database,
  forgetEverything,
  makeKeys,
  openKeys,
  recall,
  remember,
  type StoredKeys,
} from "@reflecto/browser";
import { type Api, type NewToken, toBase64 } from "@reflecto/core";
import { apiFor } from "../platform/place.ts";

/** Raised with every release that changes what the server can expect of this app. */
export const APP_BUILD = 1;
/** What this app can do beyond the first one; a server sends older apps something they know instead. */
export const FEATURES: readonly string[] = ["answer_v2", "emergency"];
/** Changes when there is something new to report. */
export const SELF_REPORT = `${APP_BUILD} ${FEATURES.join(" ")}`;

/** Where an enrolment stands, so that a page that is loaded again goes on there; with the token nobody has copied yet. */
export interface Unfinished {
  at: "notifications" | "name" | "token";
  token: NewToken | null;
}

interface Left {
  enrolment: Unfinished | null;
}

export async function recallEnrolment(database: Database): Promise<Unfinished | null> {
  return recall<Left>(database, "enrolment");
}

/** Null once there is nothing left to do: then nothing of the token is kept either. */
export async function leaveEnrolment(database: Database, left: Unfinished | null): Promise<void> {
  await remember<Left>(database, "enrolment", left);
}

/** A code that was sent and whose reply never came: the same again gets it, for the code is used up by then. */
let unanswered: { code: string; label: string; api: Api; stored: StoredKeys } | null = null;

/** Redeems a setup code. Returns the default token, or null where the phone joined an owner. */
export async function enrol(database: Database, code: string, label: string): Promise<NewToken | null> {
  if (unanswered?.code !== code || unanswered.label !== label) {
    unanswered = { code, label, api: apiFor(null), stored: await makeKeys() };
  }
  const { api, stored } = unanswered;
  const keys = await openKeys(stored);
  const enrolled = await api.enroll({
    code,
    public_key: toBase64(keys.publicKey),
    signing_key: toBase64(keys.signingKey),
    label,
    type: "web",
    class: "phone",
    app_build: APP_BUILD,
    features: FEATURES,
  });
  unanswered = null;
  await forgetEverything(database);
  await remember(database, "reported", SELF_REPORT);
  await remember(database, "keys", stored);
  await remember(database, "device", {
    ownerId: enrolled.owner_id,
    deviceId: enrolled.device_id,
    deviceToken: enrolled.device_token,
    serverKey: enrolled.server_key,
    label,
  });
  void navigator.storage?.persist?.(); // the keys must not be cleared when the disk is full
  return enrolled.default_token;
}

/** A name to start from. */
export function suggestedLabel(userAgent: string): string {
  if (/iPhone/.test(userAgent)) return "iPhone";
  if (/iPad/.test(userAgent)) return "iPad";
  if (/Android/.test(userAgent)) return /Mobile/.test(userAgent) ? "Android phone" : "Android tablet";
  if (/Macintosh/.test(userAgent)) return "Mac";
  if (/Windows/.test(userAgent)) return "Windows PC";
  return /Linux/.test(userAgent) ? "Linux PC" : "My phone";
}

/** The code as it is written, `XXXX-XXXX-XXXX-XXXX`, out of what was typed or pasted, a whole link included. */
export function tidyCode(typed: string): string {
  const code = typed.includes("#") ? typed.slice(typed.lastIndexOf("#") + 1) : typed;
  const chars = code
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "")
    .replaceAll("O", "0")
    .replace(/[IL]/g, "1")
    .slice(0, 16);
  return (chars.match(/.{1,4}/g) ?? []).join("-");
}
