/** What a notification depends on beside its item: what this phone remembers of the sender, and what is shown of it. */

import type { Item } from "@reflecto/core";
import { type Burst, isGathered, tagOf } from "./notification.ts";
import { isFirstQuestion } from "./senders.ts";

export interface Circumstances {
  /** Of a question: its sender has asked nothing here before. */
  isFirst: boolean;
  /** The sender's notification that is still there, and that this one takes the place of. */
  burst: Burst | null;
}

/** What the platform shows; its notifications carry what `promptOf` gave them. */
interface Shown {
  getNotifications(filter: { tag: string }): Promise<{ data: unknown }[]>;
}

export async function circumstancesOf(
  item: Item,
  store: { items(): Promise<Item[]> },
  shown: Shown | null,
): Promise<Circumstances> {
  const isFirst = item.type === "interaction" && isFirstQuestion(item, await store.items());
  if (!isGathered(item)) return { isFirst, burst: null };
  const [before] = (await shown?.getNotifications({ tag: tagOf(item) })) ?? [];
  const { key, burst } = (before?.data ?? {}) as { key?: string; burst?: Burst };
  if (!burst) return { isFirst, burst: null };
  return { isFirst, burst: key === item.key ? { ...burst, count: burst.count - 1 } : burst }; // itself, shown again
}
