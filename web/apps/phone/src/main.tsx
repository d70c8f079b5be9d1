/** The page's start. */

import { render } from "preact";
import { applyTheme, recallTheme } from "./platform/theme.ts";
import { App } from "./state/app.ts";
import { Insecure } from "./ui/screens/insecure.tsx";
import { Shell } from "./ui/shell.tsx";

const root = document.getElementById("app") as HTMLElement;

if (!isSecureContext) {
  render(<Insecure />, root);
} else {
  const app = await App.open();
  applyTheme(await recallTheme(app.database));
  render(<Shell app={app} />, root);
}
