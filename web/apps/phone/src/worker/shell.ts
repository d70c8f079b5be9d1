/** The app's own files, kept so that it starts without a network: of the languages, those that were spoken. */

import { isLanguageFile } from "../platform/language.ts";
import { addressOf, NAME } from "../platform/place.ts";
import { isOwnFile } from "./caching.ts";

declare const __SHELL__: readonly string[];
declare const __BUILD__: string;

const PREFIX = `${NAME}-shell-`;
const CACHE = `${PREFIX}${__BUILD__}`;
const PAGE = addressOf("/");

/** `language` is the path of the words that the app speaks. */
export async function keepShell(language: string): Promise<void> {
  const cache = await caches.open(CACHE);
  const paths = [...__SHELL__, language];
  await Promise.all(paths.map(async (path) => cache.put(addressOf(path), await fetchOwn(path))));
}

/** Throws for what is not the app's; the browser tries to install the worker again later. */
async function fetchOwn(path: string): Promise<Response> {
  const response = await fetch(addressOf(path), { cache: "no-cache", redirect: "error" });
  const type = response.headers.get("Content-Type") ?? "";
  const body = type.startsWith("text/html") ? await response.clone().text() : "";
  if (!response.ok || !isOwnFile(path, type, body, __SHELL__)) throw new Error(`${path} is not the app's`);
  return response;
}

export async function dropOldShells(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  // The last one stays: a page that was open before the upgrade still loads parts of itself when they are needed.
  await Promise.all(old.slice(0, -1).map((name) => caches.delete(name)));
}

export async function fromShell(request: Request, plan: "page" | "cached"): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = plan === "page" ? await cache.match(PAGE) : ((await cache.match(request)) ?? (await before(request)));
  return kept ?? languageFrom(cache, request) ?? fetch(request);
}

/** The words of a language: kept from the first time on, so that a language chosen later is there offline too. */
export async function wordsFrom(path: string): Promise<Response> {
  return fromShell(new Request(addressOf(path)), "cached");
}

/** Null for what is no language's file. */
function languageFrom(cache: Cache, request: Request): Promise<Response> | null {
  const path = `/${new URL(request.url).pathname.slice(PAGE.length)}`;
  if (!isLanguageFile(path)) return null;
  return fetchOwn(path).then(async (response) => {
    await cache.put(addressOf(path), response.clone());
    return response;
  });
}

/** What the shell before this one has of it. Not any cache's: another server in another folder may keep some as well. */
async function before(request: Request): Promise<Response | undefined> {
  for (const name of await caches.keys()) {
    const found = name.startsWith(PREFIX) ? await (await caches.open(name)).match(request) : undefined;
    if (found) return found;
  }
  return undefined;
}
