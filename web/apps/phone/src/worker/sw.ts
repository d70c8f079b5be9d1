/** The service worker: it only listens. `handlers.ts` handles the events, by the pure rules in the files beside it. */

import { fetchPlanOf } from "./caching.ts";
import { Handlers } from "./handlers.ts";
import { dropOldShells, fromShell, keepShell } from "./shell.ts";

declare const self: ServiceWorkerGlobalScope;

const handlers = new Handlers(self);

self.addEventListener("install", (event) => {
  event.waitUntil(
    handlers
      .languageFile()
      .then(keepShell)
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropOldShells().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const plan = fetchPlanOf(event.request, self.registration.scope);
  if (plan !== "network") event.respondWith(fromShell(event.request, plan));
});

self.addEventListener("push", (event) => {
  event.waitUntil(handlers.receivePush(event.data?.text() ?? null));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(handlers.takeClick(event.action, event.notification));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  (event as ExtendableEvent).waitUntil(handlers.renewSubscription());
});

self.addEventListener("sync", (event) => {
  (event as ExtendableEvent).waitUntil(handlers.sendAnswers({ isLastChance: false }));
});
