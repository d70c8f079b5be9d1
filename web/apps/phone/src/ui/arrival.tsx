/** A question that came while another screen is looked at: it floats over the tabs, moves nothing, and leads there. */

import { countdown, type Question } from "@reflecto/core";
import { useRef, useState } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { sourceName } from "../items/outcome.ts";
import { openQuestions } from "../state/lists.ts";
import { hrefOf } from "../state/route.ts";
import { SenderAvatar } from "./avatar.tsx";
import { useApp } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { Visible } from "./text.tsx";

/** `isElsewhere`: the questions themselves are not on the screen. */
export function Arrival({ isElsewhere }: { isElsewhere: boolean }) {
  const app = useApp();
  const known = useRef<Set<string> | null>(null);
  const [, dismiss] = useState(0);
  const open = openQuestions(app.items, app.now()).filter(({ phase }) => phase === "open");
  // What was open when the page was, and what is looked at, needs no telling.
  if (known.current === null || !isElsewhere) known.current = new Set(open.map(({ id }) => id));
  const seen = known.current;
  const arrived = open.filter(({ id }) => !seen.has(id));
  const newest = arrived.at(-1);
  const close = () => {
    for (const { id } of arrived) seen.add(id);
    dismiss((count) => count + 1);
  };
  return (
    <div class="arrival" role="status">
      {newest && <Arrived question={newest} others={arrived.length - 1} onClose={close} />}
    </div>
  );
}

function Arrived({ question, others, onClose }: { question: Question; others: number; onClose: () => void }) {
  const app = useApp();
  const left = countdown(Math.max(0, question.payload.expires_at - app.now()));
  return (
    <div class="arrived">
      <SenderAvatar source={question.source} />
      <div class="arrived-text">
        <strong>{t("arrival.asks", { name: sourceName(question.source) })}</strong>
        <p dir="auto">
          <Visible text={question.payload.question} keepLines={false} />
        </p>
        {/* Said once with the question, not every second. */}
        <small aria-hidden="true">
          {t("time.left", { time: left })}
          {others > 0 && ` · ${t("arrival.others", { count: others })}`}
        </small>
      </div>
      <a class="button primary" href={hrefOf("questions", question.id)}>
        {t("arrival.look")}
      </a>
      <button type="button" class="close" aria-label={t("arrival.close")} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}
