/** Which requests the worker answers from its cache. Pure. */

/** As in the server's `webapp.py`: one page for all. */
const PAGES: readonly string[] = ["/", "/enroll", "/pair"];

export type FetchPlan = "page" | "cached" | "network";

export function fetchPlanOf(request: { method: string; mode: string; url: string }, origin: string): FetchPlan {
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== origin) return "network";
  if (request.mode === "navigate") return PAGES.includes(url.pathname) ? "page" : "network";
  const isShell = url.pathname.startsWith("/assets/") || url.pathname.startsWith("/icons/");
  return isShell || url.pathname === "/manifest.webmanifest" ? "cached" : "network";
}
