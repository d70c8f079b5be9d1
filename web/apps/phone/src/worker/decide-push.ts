/** What a push message says. Source: the push payload, `{"seq", "blob"?}`. Pure. */

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
