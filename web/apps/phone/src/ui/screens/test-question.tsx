/** The quickest proof that it works: ask oneself. */

import { t } from "../../i18n/index.ts";
import { addressOf } from "../../platform/place.ts";
import { WorkButton } from "../controls.tsx";

export function TestQuestion({ token, onAsked }: { token: string; onAsked: () => void }) {
  const ask = async () => {
    const response = await fetch(addressOf("/v1/interactions"), {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ question: t("test.question"), choices: [t("test.yes"), t("test.no")], expires_in: 300 }),
    });
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    onAsked();
  };
  return (
    <WorkButton kind="primary" work={ask}>
      {t("test.ask")}
    </WorkButton>
  );
}
