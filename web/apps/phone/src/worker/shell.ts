/** The app's own files, kept so that it starts without a network. */

declare const __SHELL__: readonly string[];
declare const __BUILD__: string;

const PREFIX = "reflecto-shell-";
const CACHE = `${PREFIX}${__BUILD__}`;
const PAGE = "/";

export async function keepShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(__SHELL__.map((path) => new Request(path, { cache: "no-cache" })));
}

export async function dropOldShells(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

export async function fromShell(request: Request, plan: "page" | "cached"): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(plan === "page" ? PAGE : request);
  return kept ?? fetch(request);
}
