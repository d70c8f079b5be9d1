/** What the worker answers from its cache, and what it may keep in it. Pure. */

/** As in the server's `webapp.py`: one page for all. */
const PAGES: readonly string[] = ["", "enroll", "pair"];

export type FetchPlan = "page" | "cached" | "network";

/** `scope` is where the app lives, with a slash at its end. */
export function fetchPlanOf(request: { method: string; mode: string; url: string }, scope: string): FetchPlan {
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || !(origin + pathname).startsWith(scope)) return "network";
  const path = (origin + pathname).slice(scope.length);
  if (request.mode === "navigate") return PAGES.includes(path) ? "page" : "network";
  const isShell = path.startsWith("assets/") || path.startsWith("icons/");
  return isShell || path === "manifest.webmanifest" ? "cached" : "network";
}

const TYPES: readonly [RegExp, RegExp][] = [
  [/\.js$/, /javascript/],
  [/\.css$/, /^text\/css/],
  [/\.(?:png|svg)$/, /^image\//],
  [/\.(?:json|webmanifest)$/, /json/],
];

/**
 * Whether a reply is a file of the app's: a sign-in page that is kept in its place would be the app for good.
 * `type` is the Content-Type; of the page, `body` must name one of the app's scripts.
 */
export function isOwnFile(path: string, type: string, body: string, shell: readonly string[]): boolean {
  const expected = TYPES.find(([name]) => name.test(path))?.[1];
  if (expected) return expected.test(type);
  return shell.some((file) => file.endsWith(".js") && body.includes(file.slice(1)));
}
