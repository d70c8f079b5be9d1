/** The line to the server: one page of all that are open holds the stream, and tells the others how it stands. */

import { type News, type Session, StreamLead } from "@reflecto/browser";
import { type LinkState, SyncClient } from "@reflecto/core";
import { STREAM_LOCK } from "../platform/place.ts";
import { isPageVisible } from "../platform/visibility.ts";

export class Link {
  state: LinkState = "connecting";
  readonly #channel: BroadcastChannel;
  readonly #onChange: () => void;
  readonly #onLive: () => void;
  #lead: StreamLead | null = null;
  #sync: SyncClient | null = null;

  /** `onChange` hears of every new state, `onLive` when this page's own stream reaches the server. */
  constructor(channel: BroadcastChannel, onChange: () => void, onLive: () => void) {
    this.#channel = channel;
    this.#onChange = onChange;
    this.#onLive = onLive;
  }

  /** Goes on until `stop` is aborted. */
  start(session: Session, stop: AbortSignal): void {
    this.#lead = new StreamLead(STREAM_LOCK, (signal) => this.#stream(session, signal), stop);
    this.#lead.seek({ take: isPageVisible() });
    this.#tell({ what: "link?" });
  }

  /** The page or the network may be back. */
  wake(reconnect: boolean): void {
    this.#lead?.seek({ take: true });
    this.#sync?.wake({ reconnect });
  }

  /** Takes what another page says of the stream that it holds, or asks of this one's. */
  hear(news: News): void {
    const isLeading = this.#lead?.isHeld ?? false;
    if (news.what === "link?" && isLeading) this.#tell({ what: "link", state: this.state });
    if (news.what !== "link" || isLeading) return;
    this.state = news.state;
    this.#onChange();
  }

  async #stream({ api, store, intake, clock }: Session, signal: AbortSignal): Promise<void> {
    const onState = (state: LinkState) => signal.aborted || this.#take(state);
    this.#sync = new SyncClient({ api, store, intake, clock, random: Math.random, onState });
    await this.#sync.run(signal);
  }

  #take(state: LinkState): void {
    this.state = state;
    this.#tell({ what: "link", state });
    if (state === "live") this.#onLive();
    this.#onChange();
  }

  #tell(news: News): void {
    this.#channel.postMessage(news);
  }
}
