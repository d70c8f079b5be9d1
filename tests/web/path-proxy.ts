/** A proxy of the test, with the server under a path: it takes the path away, or passes it on. */

import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const PATH = "/home/reflecto";

export type Keeping = "strips the path" | "keeps the path";

export class PathProxy {
  /** What phones use, without a slash at its end. */
  readonly url: string;
  readonly #server: Server;
  readonly #keeping: Keeping;
  /** Where the server listens; set once it does. */
  target = "";
  /** Paths that were asked for outside of the server's own: a link that forgot the path. */
  readonly strays: string[] = [];
  /** Changes a file on its way, or says 404 for null: what an upgrade would do. */
  rewrite: (path: string, text: string) => string | null = (_path, text) => text;

  static async open(keeping: Keeping): Promise<PathProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PathProxy(server, keeping);
  }

  private constructor(server: Server, keeping: Keeping) {
    this.#server = server;
    this.#keeping = keeping;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
    server.on("request", (request, response) => this.#pass(request, response));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const asked = request.url ?? "";
    if (!asked.startsWith(`${PATH}/`)) {
      this.strays.push(asked);
      response.writeHead(404).end();
      return;
    }
    const path = asked.slice(PATH.length);
    const onward = forward(this.target + (this.#keeping === "keeps the path" ? asked : path), {
      method: request.method ?? "GET",
      headers: { ...request.headers, "accept-encoding": "identity" },
    });
    onward.on("response", (reply) => void this.#answer(path, reply, response));
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }

  async #answer(path: string, reply: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!path.endsWith(".js")) {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of reply) chunks.push(chunk as Buffer);
    const text = this.rewrite(path, Buffer.concat(chunks).toString("utf8"));
    const { "content-length": _length, etag: _etag, ...headers } = reply.headers;
    if (text === null) response.writeHead(404).end();
    else response.writeHead(reply.statusCode ?? 502, headers).end(text);
  }
}
