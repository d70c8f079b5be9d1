/** Web Push: where the browser lets the server reach a closed app. */

import { recall, remember, type Session } from "@reflecto/browser";
import { type Bytes, fromBase64, RefusedError, toBase64, type UpdateDeviceRequest } from "@reflecto/core";

export type PushState =
  | "on"
  | "checking"
  | "unsupported" // this browser has no push, or not here (iOS outside the home screen)
  | "blocked" // the person said no
  | "unasked"
  | "server-off" // the server does not push
  | "unreachable"; // the browser could not reach its push service

export function permissionState(): PushState | null {
  if (!("PushManager" in globalThis) || !("Notification" in globalThis)) return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" ? null : "unasked";
}

/** A subscription in the form that the server takes. */
type Subscription = NonNullable<UpdateDeviceRequest["push"]>;

/** Subscribes if need be and tells the server; safe to call at every start. */
export async function ensureSubscription(
  session: Session,
  registration: ServiceWorkerRegistration,
): Promise<PushState> {
  const missing = permissionState();
  if (missing) return missing;
  let serverKey: Bytes;
  try {
    serverKey = fromBase64((await session.api.pushKey()).public_key);
  } catch (error) {
    return error instanceof RefusedError && error.code === "not_found" ? "server-off" : "unreachable";
  }
  try {
    const subscription = await subscribe(registration.pushManager, serverKey);
    await report(session, stateOf(subscription));
    return "on";
  } catch {
    return "unreachable";
  }
}

/** What a push says: the payload is `{"seq", "blob"?}`. */
export type PushMessage = { does: "take"; seq: number; blob: string } | { does: "fetch" };

/** Anything but a whole message is a wake-up: fetching finds out what there is. */
export function pushMessageOf(json: string | null): PushMessage {
  try {
    const { seq, blob } = JSON.parse(json ?? "") as { seq?: unknown; blob?: unknown };
    if (typeof seq === "number" && typeof blob === "string") return { does: "take", seq, blob };
  } catch {
    // not ours, or none at all
  }
  return { does: "fetch" };
}

async function subscribe(manager: PushManager, serverKey: Bytes): Promise<PushSubscription> {
  const existing = await manager.getSubscription();
  if (existing && isMadeFor(existing, serverKey)) return existing;
  await existing?.unsubscribe(); // made for another server key: a restored or moved server
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey: serverKey });
}

function isMadeFor(subscription: PushSubscription, serverKey: Bytes): boolean {
  const key = subscription.options.applicationServerKey;
  return key !== null && toBase64(new Uint8Array(key)) === toBase64(serverKey);
}

async function report({ database, api }: Session, state: Subscription): Promise<void> {
  if ((await recall(database, "pushEndpoint")) === state.endpoint) return;
  await api.updateSelf({ push: state });
  await remember(database, "pushEndpoint", state.endpoint);
}

function stateOf(subscription: PushSubscription): Subscription {
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint: endpoint ?? "", keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" } };
}
