/** The page's start. */

import { render } from "preact";
import { watchForOffer } from "./platform/install.ts";
import { showLanguage } from "./platform/page-language.ts";
import { applyTheme, recallTheme } from "./platform/theme.ts";
import { App } from "./state/app.ts";
import { loadRest } from "./ui/later.tsx";
import { Shell } from "./ui/shell.tsx";

/** After the start: it has the network for itself. */
const REST_MS = 500;

watchForOffer();
void start(document.getElementById("app") as HTMLElement);

/** Not awaited by the module itself: what is loaded later waits for this file. */
async function start(root: HTMLElement): Promise<void> {
  if (!isSecureContext) {
    const [{ Insecure }] = await Promise.all([import("./ui/screens/insecure.tsx"), showLanguage("auto")]);
    return render(<Insecure />, root);
  }
  const app = await App.open();
  applyTheme(await recallTheme(app.database));
  render(<Shell app={app} />, root);
  setTimeout(loadRest, REST_MS);
}
