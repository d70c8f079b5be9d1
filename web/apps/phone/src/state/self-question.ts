/** A question from oneself, which proves that the whole way works. It needs a token of its own, kept on this device. */

import { recall, remember, type Session } from "@reflecto/browser";
import type { NewToken } from "@reflecto/core";
import { t } from "../i18n/index.ts";
import { addressOf } from "../platform/place.ts";

const ANSWER_SECONDS = 300;

interface Kept {
  selfToken: NewToken;
}

/** Asks as whoever has `token`. Throws an Error that says what the server answered. */
export async function askMyself(token: string): Promise<void> {
  const response = await post(token);
  if (!response.ok) throw new Error(t("test.refused", { status: response.status }));
}

/** Asks with this device's own token; makes one where there is none yet, or where it was revoked. */
export async function askFromHere(session: Session): Promise<void> {
  const kept = await recall<Kept>(session.database, "selfToken");
  const response = kept && (await post(kept.token));
  if (response?.ok) return;
  if (response && response.status !== 401) throw new Error(t("test.refused", { status: response.status }));
  const label = t("test.token", { device: session.device.label });
  const made = await session.api.createToken({ label, scopes: ["ask"], test: false });
  await remember<Kept>(session.database, "selfToken", made);
  await askMyself(made.token);
}

function post(token: string): Promise<Response> {
  const choices = [t("test.yes"), t("test.no")];
  return fetch(addressOf("/v1/interactions"), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ question: t("test.question"), choices, expires_in: ANSWER_SECONDS }),
  });
}
