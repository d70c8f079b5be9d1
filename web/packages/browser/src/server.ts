/** The server that this client belongs to. */

import { Api } from "@reflecto/core";

/** Makes the API as the holder of `token` calls it; `onServerTime` hears Unix seconds with every reply. */
export type ApiFor = (token: string | null, onServerTime?: (unixSeconds: number) => void) => Api;

/** The API of the server at `address`, which may have a path: `https://home.example/reflecto`. */
export function apiAt(address: string): ApiFor {
  const base = address.replace(/\/+$/, "");
  return (token, onServerTime) => new Api(base, token, (url, init) => fetch(url, init), onServerTime);
}
