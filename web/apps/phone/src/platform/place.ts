/**
 * Where at its origin this app lives: at the root, or in a folder such as `/reflecto/` behind a proxy. Page and worker
 * read it from their own address, so that one build serves every place. All pages lie directly in the folder.
 */

import { type ApiFor, apiAt } from "@reflecto/browser";

export function folderOf(href: string): string {
  return new URL(".", href).pathname;
}

/** Begins and ends with a slash. Outside of a browser, in tests, it is the root. */
const FOLDER = folderOf(globalThis.location?.href ?? "http://localhost/");

/** The server of this app, which lives at the same address. */
export const SERVER_ADDRESS: string = (globalThis.location?.origin ?? "") + FOLDER.slice(0, -1);

/** Calls that server. */
export const apiFor: ApiFor = apiAt(SERVER_ADDRESS);

/** The address of one of the app's own paths, `/enroll` for example. */
export function addressOf(path: string): string {
  return FOLDER + path.slice(1);
}

/**
 * A name for something that browsers keep for a whole origin: a database, a cache, a lock. Two servers in two folders
 * must not share it; at the root it is the plain name, as it was before there were folders.
 */
export function nameHere(name: string): string {
  return FOLDER === "/" ? name : `${name} ${FOLDER}`;
}

/** The database of this app, the channel between its pages and its worker, and the lock on its stream. */
export const NAME: string = nameHere("reflecto");
export const STREAM_LOCK: string = nameHere("reflecto-stream");
