/** Page and worker tell each other what changed in the store they share. */

import type { LinkState } from "@reflecto/core";

export type News =
  | { what: "items" }
  | { what: "forgotten" }
  | { what: "language" } // another one was chosen
  | { what: "link"; state: LinkState } // of the page that holds the stream
  | { what: "link?" };

/** All that open a channel of this name at their origin hear each other. */
export function openChannel(name: string, onNews: (news: News) => void): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  channel.onmessage = (event: MessageEvent<News>) => onNews(event.data);
  return channel;
}
