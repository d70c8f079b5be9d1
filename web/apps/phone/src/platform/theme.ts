/** Light or dark, as a person chose in this browser. */

import { type Database, recall, remember } from "@reflecto/browser";

export type Theme = "auto" | "light" | "dark";

/** What the app keeps in the device's database beside what the device is. */
interface Preferences {
  theme: Theme;
}

export async function recallTheme(database: Database): Promise<Theme> {
  return (await recall<Preferences>(database, "theme")) ?? "auto";
}

export async function chooseTheme(database: Database, theme: Theme): Promise<void> {
  applyTheme(theme);
  await remember<Preferences>(database, "theme", theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
