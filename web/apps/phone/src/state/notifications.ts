/** What reaches a person who does not look: pushes, the notifications that a hidden page makes, and the app's badge. */

import type { Session } from "@reflecto/browser";
import { type Change, type Item, waitingCount } from "@reflecto/core";
import { circumstancesOf } from "../items/circumstances.ts";
import { promptOf, tagOf } from "../items/notification.ts";
import { showBadge } from "../platform/badge.ts";
import { ensureSubscription, type PushState, permissionState } from "../platform/push.ts";
import { tick } from "../platform/sound.ts";
import { isPageVisible } from "../platform/visibility.ts";
import { registerWorker } from "./worker-link.ts";

const SYNC_TAG = "answers";

export class Notifications {
  push: PushState = permissionState() ?? "checking";
  /** A newer version of the app has taken over, and this page is still the old one. */
  isOutdated = false;
  readonly #session: () => Session | null;
  readonly #onChange: () => void;
  #registration: ServiceWorkerRegistration | null = null;

  /** `session` is asked whenever it is needed: it may have ended meanwhile. `onChange` hears of each new push state. */
  constructor(session: () => Session | null, onChange: () => void) {
    this.#session = session;
    this.#onChange = onChange;
  }

  /** Registers the worker, and subscribes to pushes where they are allowed. */
  async start(): Promise<void> {
    this.#registration ??= await registerWorker(() => {
      this.isOutdated = true;
      this.#onChange();
    });
    await this.#subscribe();
    this.#onChange();
  }

  /** Asks for permission if need be (call it from a tap), subscribes, and tells the server. */
  async turnOn(): Promise<void> {
    if (permissionState() === "unasked") await Notification.requestPermission();
    if (!(await this.#subscribe())) this.push = permissionState() ?? "unreachable";
    this.#onChange();
  }

  /** Tells of what came, and takes back what is over. */
  async take(changes: readonly Change[]): Promise<void> {
    for (const { item, what } of changes) {
      if (what === "came") await this.#announce(item);
      else if (what === "again") await this.#notify(item);
      else await this.close(item);
    }
  }

  async close(item: Item): Promise<void> {
    const filter = { tag: tagOf(item) };
    for (const notification of (await this.#registration?.getNotifications(filter)) ?? []) notification.close();
  }

  /** Ends pushes, and takes everything back. */
  async end(): Promise<void> {
    const subscription = await this.#registration?.pushManager?.getSubscription().catch(() => null);
    await subscription?.unsubscribe().catch(() => undefined);
    for (const notification of (await this.#registration?.getNotifications()) ?? []) notification.close();
    await showBadge(0);
  }

  count(items: readonly Item[], now: number): void {
    void showBadge(waitingCount(items, now));
  }

  /** Has the worker send the answers when the browser is back online, even if this page is closed by then. */
  sendLater(): void {
    const sync = (this.#registration as { sync?: { register(tag: string): Promise<void> } } | null)?.sync;
    void sync?.register(SYNC_TAG).catch(() => undefined);
  }

  /** False where there is no session, or no worker. */
  async #subscribe(): Promise<boolean> {
    const session = this.#session();
    if (!session || !this.#registration) return false;
    this.push = await ensureSubscription(session, this.#registration);
    return true;
  }

  /** On the screen it is announced by being there; a hidden page makes a notification, unless the worker did. */
  async #announce(item: Item): Promise<void> {
    if (await this.#session()?.store.claimAnnouncement(item.key)) await this.#notify(item);
  }

  async #notify(item: Item): Promise<void> {
    if (isPageVisible() || permissionState() !== null) {
      // Of several pages this one alone was told; which of them the person looks at, or none, nobody knows.
      if (item.type === "interaction") tick();
      return;
    }
    const session = this.#session();
    if (!session) return;
    const maxActions = (Notification as { maxActions?: number }).maxActions ?? 0;
    const prompt = promptOf(item, maxActions, await circumstancesOf(item, session.store, this.#registration));
    if (prompt) await this.#registration?.showNotification(prompt.title, prompt.options as NotificationOptions);
  }
}
