/** The page's side of the service worker. */

import { addressOf } from "../platform/place.ts";

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

const WORKER_ADDRESS = addressOf("/sw.js");

/** Null where the browser has no workers, or not on this origin. `onOutdated` hears of a newer version of the app. */
export async function registerWorker(onOutdated: () => void): Promise<ServiceWorkerRegistration | null> {
  if (!("serviceWorker" in navigator)) return null;
  navigator.serviceWorker.addEventListener("message", (event: MessageEvent<{ open?: string }>) => {
    const path = event.data.open;
    if (path?.startsWith("/#/")) location.hash = path.slice(1);
  });
  reloadOnUpdate(onOutdated);
  try {
    await navigator.serviceWorker.register(trustedPath() as string, { updateViaCache: "none" });
    return await navigator.serviceWorker.ready;
  } catch {
    return null; // private windows of some browsers refuse; the page works without
  }
}

/** The page's policy forbids script addresses made at run time, but for this one. */
function trustedPath(): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("reflecto", {
    createScriptURL(url) {
      if (url !== WORKER_ADDRESS) throw new TypeError("not the worker");
      return url;
    },
  });
  return policy?.createScriptURL(WORKER_ADDRESS) ?? WORKER_ADDRESS;
}

/** A new version takes over while nobody looks: never under a finger. */
function reloadOnUpdate(onOutdated: () => void): void {
  let hasController = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (!hasController) {
      hasController = true;
      return;
    }
    const reload = () => {
      if (document.visibilityState === "hidden") location.reload();
    };
    document.addEventListener("visibilitychange", reload);
    onOutdated();
    reload();
  });
}
