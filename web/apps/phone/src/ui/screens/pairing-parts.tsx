/** What both ends of a pairing show. */

import { visibleText } from "@reflecto/core";
import { t } from "../../i18n/index.ts";
import { Mark } from "../icons.tsx";

/** In two groups, as people read them to each other. */
export function Digits({ digits }: { digits: string }) {
  return (
    <p class="digits" role="img" aria-label={[...digits].join(" ")}>
      {digits.slice(0, 3)} {digits.slice(3)}
    </p>
  );
}

/** Not an error to shrug off: the server, or somebody who has it, tampered with the pairing. */
export function Lie({ what, after }: { what: string; after: string }) {
  return (
    <section class="group made lie" role="alert">
      <Mark />
      <h2>{t("lie.title")}</h2>
      <p>{t("lie.what", { what: visibleText(what) })}</p>
      <p>
        {after} {t("lie.after")}
      </p>
    </section>
  );
}
