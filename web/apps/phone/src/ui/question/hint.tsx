/** One line above the answers: what a person should know before they tap, the worst first. */

import type { ComponentChildren } from "preact";
import { t } from "../../i18n/index.ts";
import { Icon, type IconName } from "../icons.tsx";

export interface HintProps {
  obstacle: "unknown" | "alike" | null;
  /** Long parts that are folded and were not opened. */
  foldedParts: number;
  /** Lines that are not on the screen, and were not yet; 0 once the end was seen. */
  linesBelow: number;
  isOffline: boolean;
  /** The answer that wants a long press; null where none does. */
  heldChoice: string | null;
  onUnfold: () => void;
  onScroll: () => void;
}

const OBSTACLES = { unknown: "answer.unknown", alike: "answer.alike" } as const;

export function Hint(props: HintProps) {
  const { obstacle, foldedParts, linesBelow, isOffline, heldChoice } = props;
  if (obstacle) return <Words icon="alert" tone="danger" text={t(OBSTACLES[obstacle])} />;
  if (foldedParts > 0) {
    return (
      <Button icon="next" onPress={props.onUnfold}>
        {t("answer.folded", { count: foldedParts })} <b>{t("answer.unfold")}</b>
      </Button>
    );
  }
  if (linesBelow > 0) {
    return (
      <Button icon="down" onPress={props.onScroll}>
        {t("answer.below", { count: linesBelow })}
      </Button>
    );
  }
  if (isOffline) return <Words icon="offline" tone="warn" text={t("answer.offline")} />;
  if (heldChoice !== null) {
    return <Words icon="hold" tone="" text={t("answer.hold.hint", { choice: heldChoice })} />;
  }
  return null;
}

function Words({ icon, tone, text }: { icon: IconName; tone: string; text: string }) {
  return (
    <p class={`hint ${tone}`} role="status">
      <Icon name={icon} />
      <span>{text}</span>
    </p>
  );
}

function Button(props: { icon: IconName; onPress: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="hint" onClick={props.onPress}>
      <Icon name={props.icon} />
      <span>{props.children}</span>
    </button>
  );
}
