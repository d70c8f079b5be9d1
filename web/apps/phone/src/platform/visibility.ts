/** Whether somebody can see this page, and when it may have been asleep. */

export function isPageVisible(): boolean {
  return document.visibilityState === "visible";
}

/** Calls `onWake` when the page or the network may be back; `reconnect`: a line from before is not to be trusted. */
export function watchForWaking(onWake: (reconnect: boolean) => void): void {
  document.addEventListener("visibilitychange", () => onWake(false));
  addEventListener("pageshow", (event) => onWake(event.persisted));
  addEventListener("online", () => onWake(true));
  // Neither event is believed: each is a reason to try, and what is reached tells. A page that was reloaded without
  // a network is called online by some browsers.
  addEventListener("offline", () => onWake(true));
}
