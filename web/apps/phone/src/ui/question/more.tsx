/** All that can be done about who asks, behind one calm button: refuse, and be quiet for a while. */

import type { Question } from "@reflecto/core";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { sourceName } from "../../items/outcome.ts";
import type { Memory } from "../../state/sitting.ts";
import { SenderAvatar } from "../avatar.tsx";
import { Problem } from "../controls.tsx";
import { messageOf, useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { MuteChoices } from "../mute-choices.tsx";
import { Name } from "../text.tsx";
import { Panel } from "./panel.tsx";

export function More({ question, memory, onClose }: { question: Question; memory: Memory; onClose: () => void }) {
  const app = useApp();
  const [problem, setProblem] = useState<string | null>(null);
  const name = sourceName(question.source);
  const tokenId = question.source.token_id;
  const act = async (work: () => Promise<unknown> | undefined) => {
    setProblem(null);
    try {
      await work();
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <Panel title={name} isTitled={false} onClose={onClose}>
      <p class="panel-who">
        <SenderAvatar source={question.source} />
        <span class="row-text">
          <strong>
            <Name text={name} />
          </strong>
          <small>{t("more.waits", { open: memory.open, today: memory.asked })}</small>
        </span>
      </p>
      <ul class="group">
        <li>
          <button type="button" class="action" onClick={() => act(() => app.session?.answers.refuse(question))}>
            <Icon name="refused" />
            <span class="row-text">
              <strong>{t("more.refuse")}</strong>
              <small>{t("more.refuse.hint")}</small>
            </span>
          </button>
        </li>
        {memory.open > 1 && tokenId !== undefined && (
          <li>
            <button type="button" class="action" onClick={() => act(() => app.session?.answers.refuseAll(tokenId))}>
              <Icon name="refused" />
              <span class="row-text">
                <strong>{t("more.refuse_all", { count: memory.open })}</strong>
                <small>{t("more.refuse_all.hint")}</small>
              </span>
            </button>
          </li>
        )}
      </ul>
      {tokenId !== undefined && (
        <MuteChoices onMute={(until) => act(() => app.changeToken(tokenId, { muted_until: until }))} />
      )}
      {problem && <Problem text={problem} />}
      <button type="button" class="button big" onClick={onClose}>
        {t("more.close")}
      </button>
    </Panel>
  );
}
