/** The quickest proof that it works: ask oneself. */

import { t } from "../../i18n/index.ts";
import { askMyself } from "../../state/self-question.ts";
import { WorkButton } from "../controls.tsx";

export function TestQuestion({ token, onAsked }: { token: string; onAsked: () => void }) {
  const ask = async () => {
    await askMyself(token);
    onAsked();
  };
  return (
    <WorkButton kind="primary" work={ask}>
      {t("test.ask")}
    </WorkButton>
  );
}
