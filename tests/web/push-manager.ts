/** Chromium subscribes at a service of its maker, which no test may reach: this is the service's part. */

export interface SubscriptionJson {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** To be evaluated in a page or a worker: from then on it is subscribed anew, with what the test gives. */
export const FAKE_PUSH_MANAGER = ({ endpoint, keys }: SubscriptionJson): void => {
  if (!("PushManager" in globalThis)) return;
  let current: object | null = null;
  PushManager.prototype.getSubscription = async () => current as PushSubscription | null;
  PushManager.prototype.subscribe = async (options) => {
    const { buffer } = (options as { applicationServerKey: Uint8Array<ArrayBuffer> }).applicationServerKey;
    current = {
      options: { applicationServerKey: buffer },
      toJSON: () => ({ endpoint, keys }),
      unsubscribe: async () => true,
    };
    return current as PushSubscription;
  };
};
