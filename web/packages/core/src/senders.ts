/** What the owner has made of each sender, as far as this phone knows. Times are Unix seconds. Pure. */

import type { MutedUntil, Source } from "./envelope.ts";
import type { Item } from "./records.ts";

export interface Sender {
  mutedUntil: MutedUntil | null;
  /** When that was said, and the label of the phone that said it; null for this one. */
  at: number;
  by: string | null;
}

/** By the token's id, whatever its name is now. */
export type Senders = Readonly<Record<string, Sender>>;

/** What is left out stays as it was. */
export interface SenderChange {
  tokenId: string;
  label?: string;
  colour?: string;
  mutedUntil?: MutedUntil | null;
}

export function isMuted(senders: Senders, { token_id }: Source, now: number): boolean {
  const until = senders[token_id ?? ""]?.mutedUntil ?? null;
  return until !== null && (until === "forever" || now < until);
}

/** The same object where the change does not mute or unmute, or where something later is known already. */
export function withChange(senders: Senders, change: SenderChange, at: number, by: string | null): Senders {
  const before = senders[change.tokenId];
  if (change.mutedUntil === undefined || (before && before.at > at)) return senders;
  return { ...senders, [change.tokenId]: { mutedUntil: change.mutedUntil, at, by } };
}

/** What is kept of a sender goes by its new name and colour; the same object where it is of another one. */
export function relabelled(item: Item, { tokenId, label, colour }: SenderChange): Item {
  if (item.source.token_id !== tokenId || item.type === "token.changed") return item;
  const source = { ...item.source, ...(label ? { token: label } : {}), ...(colour ? { colour } : {}) };
  const isSame = source.token === item.source.token && source.colour === item.source.colour;
  return isSame ? item : { ...item, source };
}

/** The change that an entry of the queue tells of. */
export function changeOf(payload: {
  token_id: string;
  label?: string | undefined;
  colour?: string | undefined;
  muted_until?: number | string | null | undefined;
}): SenderChange {
  const { token_id, label, colour, muted_until } = payload;
  return {
    tokenId: token_id,
    ...(label === undefined ? {} : { label }),
    ...(colour === undefined ? {} : { colour }),
    ...(muted_until === undefined ? {} : { mutedUntil: typeof muted_until === "string" ? "forever" : muted_until }),
  };
}
