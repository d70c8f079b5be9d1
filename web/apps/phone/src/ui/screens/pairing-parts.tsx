/** What both ends of a pairing show. */

import { visibleText } from "@reflecto/core";
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
      <h2>The server did not tell the truth</h2>
      <p>What it passed on between your devices was changed: {visibleText(what)}.</p>
      <p>{after} Find out who controls the server before you go on using it.</p>
    </section>
  );
}
