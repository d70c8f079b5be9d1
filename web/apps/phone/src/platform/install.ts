/** Installing the app, where the browser offers it. It offers once, maybe before anything is drawn. */

/** Chromium's event, which is in no standard's types. */
interface Offer extends Event {
  prompt(): Promise<void>;
  userChoice: Promise<{ outcome: "accepted" | "dismissed" }>;
}

let offer: Offer | null = null;
const listeners = new Set<() => void>();

/** Call it at the start of the page, and not later. */
export function watchForOffer(): void {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault(); // it is shown where a person looks for it, and not over a question
    hold(event as Offer);
  });
  addEventListener("appinstalled", () => hold(null));
}

export function canInstall(): boolean {
  return offer !== null;
}

/** Shows the browser's own question. An offer is good once. */
export async function install(): Promise<void> {
  const shown = offer;
  hold(null);
  await shown?.prompt();
  if ((await shown?.userChoice)?.outcome === "dismissed") hold(shown);
}

/** Returns how to stop listening. */
export function onOffer(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function hold(next: Offer | null): void {
  offer = next;
  for (const listener of listeners) listener();
}
