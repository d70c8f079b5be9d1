/** Whether a notification is shown, what becomes of it, and what a tap on it does. Pure. */

import { type Item, isAlarm } from "@reflecto/core";

/** What decides whether a message that came makes a notification: each is shown once, by however many ways it arrives. */
export interface Situation {
  /** This caller was the first to claim it. */
  isFirst: boolean;
  /** An open page shows it already. */
  isPageVisible: boolean;
  /** The platform ends the subscription of an app that takes pushes without showing anything (WebKit). */
  mustShow: boolean;
}

export type Announcement = "show" | "repeat-quietly" | "nothing";

export function announcementOf({ isFirst, isPageVisible, mustShow }: Situation): Announcement {
  if (isFirst && !isPageVisible) return "show";
  return mustShow ? "repeat-quietly" : "nothing"; // the same tag: it takes the place of the one that is there
}

/** What to do with the notification of a question that is over. */
export function endingOf(situation: { isOnScreen: boolean; wasTappedHere: boolean; mustShow: boolean }): Announcement {
  if (situation.mustShow) return "repeat-quietly";
  return situation.isOnScreen && situation.wasTappedHere ? "repeat-quietly" : "nothing";
}

/** What a tap on a notification does. */
export type Click =
  | { does: "answer"; id: string; choiceIndex: number }
  | { does: "end"; key: string }
  | { does: "unmute"; tokenId: string }
  | { does: "open"; path: string };

/** `action` is the button's name, empty for a tap on the notification itself. */
export function clickOf(action: string, item: Item | null): Click {
  const choice = /^choice-(\d)$/.exec(action);
  if (choice && item?.type === "interaction") {
    return { does: "answer", id: item.id, choiceIndex: Number(choice[1]) };
  }
  if (action === "end" && item && isAlarm(item)) return { does: "end", key: item.key };
  if (action === "unmute" && item?.type === "token.changed") return { does: "unmute", tokenId: item.payload.token_id };
  return { does: "open", path: pathOf(item) };
}

/** The screen that shows an item. */
export function pathOf(item: Item | null): string {
  if (item === null) return "/";
  if (item.type === "interaction") return `/#/questions/${item.id}`;
  return isAlarm(item) ? "/" : `/#/inbox/${item.id}`;
}
