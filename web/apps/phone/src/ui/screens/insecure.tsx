/** Shown on a plain http address: what is missing, and how to get it. */

import { SERVER_ADDRESS } from "../../platform/place.ts";
import { Mark } from "../icons.tsx";

export function Insecure() {
  const port = location.port || "8787"; // without one there is a proxy already, and the server is where it is by default
  return (
    <main class="welcome">
      <Mark />
      <h1>This page needs HTTPS</h1>
      <p>
        <strong>
          <bdi>{SERVER_ADDRESS}</bdi>
        </strong>{" "}
        is not encrypted. Browsers only let a page keep secret keys, receive pushes and be installed in a{" "}
        <em>secure context</em>: an address with https://, or localhost on the same machine.
      </p>
      <h2>Three ways to get one</h2>
      <ul class="ways">
        <li>
          <strong>Tailscale</strong>
          <code>tailscale serve --bg {port}</code>
          gives the server a name with a certificate inside your own network.
        </li>
        <li>
          <strong>Caddy</strong>
          <code>caddy reverse-proxy --from your.domain --to :{port}</code>
          fetches a certificate by itself.
        </li>
        <li>
          <strong>Cloudflare Tunnel</strong>
          <code>cloudflared tunnel run --url http://localhost:{port} reflecto</code>
          needs no open port, but a named tunnel. The kind without an account holds back what should come live.
        </li>
      </ul>
      <p>
        Then start the server with <code>--public-url https://…</code> and open the new link. The address cannot be
        changed later without pairing again.
      </p>
    </main>
  );
}
