/** Shown on a plain http address: what is missing, and how to get it. */

import type { ComponentChildren } from "preact";
import { rich, t } from "../../i18n/index.ts";
import { SERVER_ADDRESS } from "../../platform/place.ts";
import { Mark } from "../icons.tsx";

export function Insecure() {
  const port = location.port || "8787"; // without one there is a proxy already, and the server is where it is by default
  return (
    <main class="welcome">
      <Mark />
      <h1>{t("insecure.title")}</h1>
      <p>
        {rich<ComponentChildren>("insecure.why", {
          server: SERVER_ADDRESS,
          b: (inner) => <strong>{inner}</strong>,
          em: (inner) => <em>{inner}</em>,
        })}
      </p>
      <h2>{t("insecure.ways")}</h2>
      <ul class="ways">
        <li>
          <strong>Tailscale</strong>
          <code>tailscale serve --bg {port}</code>
          {t("insecure.tailscale")}
        </li>
        <li>
          <strong>Caddy</strong>
          <code>caddy reverse-proxy --from your.domain --to :{port}</code>
          {t("insecure.caddy")}
        </li>
        <li>
          <strong>Cloudflare Tunnel</strong>
          <code>cloudflared tunnel run --url http://localhost:{port} reflecto</code>
          {t("insecure.cloudflare")}
        </li>
      </ul>
      <p>{rich<ComponentChildren>("insecure.then", { code: (inner) => <code>{inner}</code> })}</p>
    </main>
  );
}
