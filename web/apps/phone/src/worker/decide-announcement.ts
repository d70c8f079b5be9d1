/** Whether a message that came makes a notification: each is shown once, however many ways it arrives. Pure. */

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
