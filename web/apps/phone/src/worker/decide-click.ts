/** What a tap on a notification means. Pure. */

import { type Item, isAlarm } from "@reflecto/core";

export type Click =
  | { does: "answer"; id: string; choiceIndex: number }
  | { does: "end"; key: string }
  | { does: "open"; path: string };

/** `action` is the button's name, empty for a tap on the notification itself. */
export function clickOf(action: string, item: Item | null): Click {
  const choice = /^choice-(\d)$/.exec(action);
  if (choice && item?.type === "interaction") {
    return { does: "answer", id: item.id, choiceIndex: Number(choice[1]) };
  }
  if (action === "end" && item && isAlarm(item)) return { does: "end", key: item.key };
  return { does: "open", path: pathOf(item) };
}

/** The screen that shows an item. */
export function pathOf(item: Item | null): string {
  if (item === null) return "/";
  if (item.type === "interaction") return `/#/questions/${item.id}`;
  return isAlarm(item) ? "/" : `/#/inbox/${item.id}`;
}
