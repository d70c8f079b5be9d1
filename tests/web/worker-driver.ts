/** A phone's service worker as the system drives it: pushes in, notifications out, taps on them. */

import { expect } from "vitest";
import { type BrowserContext, type Page, WAIT_MS } from "./harness.ts";

// What there is in a worker, where these functions are sent to.
type WorkerScope = { registration: ServiceWorkerRegistration };
declare const NotificationEvent: new (type: string, init: { notification: Notification; action: string }) => Event;
declare const ExtendableEvent: new (type: string) => Event;

export interface Shown {
  title: string;
  body: string;
  tag: string;
  actions: string[];
}

export class WorkerDriver {
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly #origin: string;

  constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.#page = page;
    this.#origin = origin;
  }

  get worker() {
    const [found] = this.#context.serviceWorkers();
    if (!found) throw new Error("no service worker");
    return found;
  }

  /** What the notification centre shows. */
  shown(): Promise<Shown[]> {
    return this.worker.evaluate(async () => {
      const { registration } = globalThis as unknown as WorkerScope;
      const notifications = (await registration.getNotifications()) as (Notification & {
        actions: { title: string }[];
      })[];
      return notifications.map(({ title, body, tag, actions }) => {
        return { title, body, tag, actions: actions.map((action) => action.title) };
      });
    });
  }

  async untilShown(matches: (notifications: Shown[]) => boolean): Promise<void> {
    await expect.poll(async () => matches(await this.shown()), { timeout: WAIT_MS, interval: 50 }).toBe(true);
  }

  /** The push service's part: hands the worker a message through the DevTools protocol. */
  async push(data: string): Promise<void> {
    const session = await this.#context.newCDPSession(this.#page);
    const scope = `${this.#origin}/`;
    const registered = new Promise<string>((resolve) => {
      session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        const own = registrations.find(({ scopeURL }) => scopeURL === scope);
        if (own) resolve(own.registrationId);
      });
    });
    await session.send("ServiceWorker.enable");
    const registrationId = await registered;
    await session.send("ServiceWorker.deliverPushMessage", { origin: scope, registrationId, data });
    await session.detach();
  }

  /** A tap on the notification, or on one of its buttons. */
  async click(tag: string, action: string): Promise<void> {
    await this.worker.evaluate(
      async (tapped) => {
        const { registration } = globalThis as unknown as WorkerScope;
        const [notification] = await registration.getNotifications({ tag: tapped.tag });
        dispatchEvent(
          new NotificationEvent("notificationclick", {
            notification: notification as Notification,
            action: tapped.action,
          }),
        );
      },
      { tag, action },
    );
  }

  /** Something else the system tells the worker. */
  async tell(event: "sync" | "pushsubscriptionchange"): Promise<void> {
    await this.worker.evaluate((type) => void dispatchEvent(new ExtendableEvent(type)), event);
  }
}
