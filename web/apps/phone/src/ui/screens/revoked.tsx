/** The server no longer knows this phone. */

import { t } from "../../i18n/index.ts";
import { WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Mark } from "../icons.tsx";

export function Revoked({ onDone }: { onDone: () => void }) {
  const app = useApp();
  return (
    <main class="welcome">
      <Mark />
      <h1>{t(app.isPhone ? "revoked.phone" : "revoked.device")}</h1>
      <p>{t("revoked.hint")}</p>
      <WorkButton
        kind="primary"
        work={async () => {
          await app.forget();
          onDone();
        }}
      >
        {t("revoked.erase")}
      </WorkButton>
      <button type="button" class="button" onClick={() => app.checkAgain()}>
        {t("revoked.ask")}
      </button>
    </main>
  );
}
