/** Which screen the address names. The fragment holds it, so that the server serves one page for all. */

export type Tab = "questions" | "inbox" | "history" | "settings";

export interface Route {
  tab: Tab;
  /** What within it: an id, or the name of a part of the settings. */
  part: string | null;
}

const TABS: readonly string[] = ["questions", "inbox", "history", "settings"];

export function routeOf(hash: string): Route {
  const [, tab = "", part = ""] = hash.replace(/^#/, "").split("/");
  return { tab: TABS.includes(tab) ? (tab as Tab) : "questions", part: part || null };
}

export function hrefOf(tab: Tab, part?: string): string {
  return part ? `#/${tab}/${part}` : `#/${tab}`;
}
