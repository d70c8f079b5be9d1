/** What proxies, sign-in pages and other programs say in a server's place. */

const page = (status: number) => () =>
  new Response("<html>written by the proxy</html>", { status, headers: { "Content-Type": "text/html" } });
const json = (status: number, body: unknown) => () => Response.json(body, { status });

/** `opaqueredirect` is what `fetch` makes of a redirect that is not followed; it cannot be built otherwise. */
function redirect(): Response {
  return Object.defineProperty(new Response(null, { status: 200 }), "type", { value: "opaqueredirect" });
}

export const FOREIGN_REPLIES: readonly [string, () => Response][] = [
  ...[401, 403, 404, 409, 429, 502].map((status): [string, () => Response] => [`a page with ${status}`, page(status)]),
  ["a sign-in page with 200", page(200)],
  ["JSON of another shape with 200", json(200, { ok: true })],
  ["JSON that is no object with 200", json(200, null)],
  ["a redirect", redirect],
  ["an error of a framework", json(404, { timestamp: 1, status: 404, error: "Not Found", path: "/v1" })],
  ["a flat error with a code of ours", json(404, { error: "not_found" })],
  ["an error object with a code of nobody", json(404, { error: { code: "no_such_route", message: "no" } })],
  ["a code of ours under another status", json(403, { error: { code: "not_found", message: "no" } })],
  ["an error object with more than ours has", json(404, { error: { code: "not_found", message: "no", id: 7 } })],
  ["an error beside other things", json(404, { error: { code: "not_found", message: "no" }, requestId: "7" })],
  ["OAuth's invalid_token", json(401, { error: "invalid_token", error_description: "The token expired" })],
  ["an inherited name as the code", json(404, { error: { code: "constructor", message: "no" } })],
];
