/** Page and worker tell each other what changed in the store they share. */

import type { LinkState } from "@reflecto/core";
import { nameHere } from "./place.ts";

const NAME = nameHere("reflecto");

export type News =
  | { what: "items" }
  | { what: "forgotten" }
  | { what: "link"; state: LinkState } // of the page that holds the stream
  | { what: "link?" };

export function openChannel(onNews: (news: News) => void): BroadcastChannel {
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = (event: MessageEvent<News>) => onNews(event.data);
  return channel;
}

interface Badge {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

/** The number on the app's icon; a platform without badges does nothing. */
export async function showBadge(count: number): Promise<void> {
  const { setAppBadge, clearAppBadge } = navigator as Badge;
  try {
    if (count > 0) await setAppBadge?.call(navigator, count);
    else await clearAppBadge?.call(navigator);
  } catch {
    // not installed, or not allowed to
  }
}
