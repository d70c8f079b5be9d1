/** A reverse proxy before a server, which answers in its place when a test says so. */

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the proxy says instead of passing a call under /v1 on. */
export type Reply = { status: number; type?: string; body?: string; location?: string };

export class ReverseProxy {
  /** Null: it passes everything on. */
  instead: Reply | null = null;
  readonly #server: Server;
  readonly #upstream: URL;

  private constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((incoming, outgoing) => this.#take(incoming, outgoing));
  }

  static async before(upstream: string): Promise<ReverseProxy> {
    const proxy = new ReverseProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection, streams among them. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.instead && incoming.url?.startsWith("/v1/")) {
      const { status, type = "text/html", body = "<html>written by the proxy</html>", location } = this.instead;
      outgoing.writeHead(status, { "Content-Type": type, ...(location ? { Location: location } : {}) });
      outgoing.end(body);
      return;
    }
    const { hostname: host, port } = this.#upstream;
    const { url: path, method, headers } = incoming;
    const passed = request({ host, port, path, method, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  }
}
