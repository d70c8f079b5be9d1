/** The page's start. */

import { render } from "preact";
import { watchForOffer } from "./platform/install.ts";
import { showLanguage } from "./platform/page-language.ts";
import { applyTheme, recallTheme } from "./platform/theme.ts";
import { App } from "./state/app.ts";
import { Shell } from "./ui/shell.tsx";

watchForOffer();
const root = document.getElementById("app") as HTMLElement;

if (!isSecureContext) {
  const [{ Insecure }] = await Promise.all([import("./ui/screens/insecure.tsx"), showLanguage("auto")]);
  render(<Insecure />, root);
} else {
  const app = await App.open();
  applyTheme(await recallTheme(app.database));
  render(<Shell app={app} />, root);
}
