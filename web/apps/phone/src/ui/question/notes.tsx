/** The phone's own words on a question: what it says of danger, and what this phone remembers of who asks. */

import type { Brief } from "@reflecto/core";
import { spanOf, timeOf } from "../../i18n/dates.ts";
import { t } from "../../i18n/index.ts";
import type { Memory } from "../../state/sitting.ts";
import { Icon } from "../icons.tsx";
import { Visible } from "../text.tsx";

const DAY_SECONDS = 86_400;

/** What has to be known before reading. */
export function Warnings({ brief, memory, now }: { brief: Brief; memory: Memory; now: number }) {
  const { refusal } = memory;
  if (!brief.isDangerous && !refusal) return null;
  return (
    <ul class="notes before">
      {brief.isDangerous && (
        <li class="danger">
          <Icon name="alert" />
          <span>
            <strong>{t("question.danger")}</strong> {t("question.danger.hint")}
          </span>
        </li>
      )}
      {refusal && (
        <li>
          <Icon name="refused" />
          <span>
            {t("question.refused", { choice: refusal.label, span: spanOf(now - refusal.at) })}
            {refusal.difference !== null && (
              <>
                {" "}
                {t("question.refused.words")}{" "}
                <q class="mono">
                  <Visible text={refusal.difference} keepLines={false} />
                </q>
              </>
            )}
          </span>
        </li>
      )}
    </ul>
  );
}

/** What may be known besides. */
export function Memories({ memory, now }: { memory: Memory; now: number }) {
  const { isFirst, today, last } = memory;
  const isToday = last !== null && now - last.at < DAY_SECONDS;
  return (
    <ul class="notes">
      {isFirst && (
        <li>
          <Icon name="plus" />
          {t("question.first")}
        </li>
      )}
      {(today > 1 || last) && (
        <li>
          <Icon name="renew" />
          <span>
            {today > 1 && `${t("question.today", { count: today })} `}
            {last &&
              (isToday
                ? t("question.last.today", { choice: last.label, time: timeOf(last.at) })
                : t("question.last", { choice: last.label }))}
          </span>
        </li>
      )}
    </ul>
  );
}
