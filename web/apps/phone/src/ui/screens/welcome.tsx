/** The first screen of somebody who came without a code: what this is, and what there is to do. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Key, rich, t } from "../../i18n/index.ts";
import { SERVER_ADDRESS } from "../../platform/place.ts";
import { Mark } from "../icons.tsx";

const STEPS: readonly (readonly [Key, Key])[] = [
  ["welcome.pair", "welcome.pair.hint"],
  ["welcome.notify", "welcome.notify.hint"],
  ["welcome.name", "welcome.name.hint"],
];

export function Welcome({ onNext }: { onNext: () => void }) {
  const [isHelped, setHelped] = useState(false);
  return (
    <main class="welcome first">
      <Mark />
      <h1>{t("welcome.title")}</h1>
      <WhatThisIs />
      <ol class="steps">
        {STEPS.map(([title, hint]) => (
          <li key={title}>
            <strong>{t(title)}</strong>
            <p>{rich<ComponentChildren>(hint, { code: (inner) => <code>{inner}</code> })}</p>
          </li>
        ))}
      </ol>
      <div class="welcome-end">
        <button type="button" class="button primary big" onClick={onNext}>
          {t("welcome.next")}
        </button>
        <button type="button" class="button quiet" aria-expanded={isHelped} onClick={() => setHelped(!isHelped)}>
          {t("welcome.how")}
        </button>
        {isHelped && <p>{rich<ComponentChildren>("welcome.how.hint", { code: (inner) => <code>{inner}</code> })}</p>}
      </div>
    </main>
  );
}

export function WhatThisIs() {
  return (
    <p class="what">
      {rich<ComponentChildren>("welcome.what", {
        server: SERVER_ADDRESS.replace(/^https?:\/\//, ""),
        b: (inner) => (
          <strong>
            <bdi>{inner}</bdi>
          </strong>
        ),
      })}
    </p>
  );
}
