/** Which requests the worker answers from its cache. Pure. */

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
