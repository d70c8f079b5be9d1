/** What a person chose in this browser, kept in the one database beside what the device is. */

import { type Database, recall, remember } from "@reflecto/browser";

export type Theme = "auto" | "light" | "dark";

interface Preferences {
  theme: Theme;
}

export async function recallTheme(database: Database): Promise<Theme> {
  return (await recall<Preferences>(database, "theme")) ?? "auto";
}

export function rememberTheme(database: Database, theme: Theme): Promise<void> {
  return remember<Preferences>(database, "theme", theme);
}
