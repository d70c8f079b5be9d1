/** The service worker: it only listens. What is to be done is decided in `decide-*.ts` and done in `duties.ts`. */

import { fetchPlanOf } from "./decide-fetch.ts";
import { Duties } from "./duties.ts";
import { dropOldShells, fromShell, keepShell } from "./shell.ts";

declare const self: ServiceWorkerGlobalScope;

const duties = new Duties(self);

self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropOldShells().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const plan = fetchPlanOf(event.request, self.registration.scope);
  if (plan !== "network") event.respondWith(fromShell(event.request, plan));
});

self.addEventListener("push", (event) => {
  event.waitUntil(duties.receivePush(event.data?.text() ?? null));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(duties.takeClick(event.action, event.notification));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  (event as ExtendableEvent).waitUntil(duties.renewSubscription());
});

self.addEventListener("sync", (event) => {
  (event as ExtendableEvent).waitUntil(duties.sendAnswers({ isLastChance: false }));
});
