/** Web addresses that lead where they seem to, or are no links. The rule of `contract/links.py`, on the same vectors. */

/** Where an address leads: `target` is what a person is shown. */
export interface Link {
  scheme: string;
  target: string;
}

// An address of these runs something, shows what it was given as if a site said it, or reads what is on the device.
const NEVER_OPENED = new Set(
  (
    "about blob chrome content data edge file filesystem intent jar javascript livescript mhtml mocha " +
    "ms-msdt res resource search-ms shell vbscript view-source wyciwyg"
  ).split(" "),
);
// A browser drops some of these, and takes a backslash for a slash; other readers do neither.
const READ_DIFFERENTLY = /[\p{Cc}\p{Z}\p{Cs}\\]/u;
// What begins an address inside an address, `feed:javascript:…`: programs take the first scheme off and open the rest.
const SCHEMES = /^(?:[a-z][a-z0-9+.-]*:(?!\/\/[^/])\/*)*[a-z][a-z0-9+.-]*:/i;
// A host or a text that a program takes for one of its options, `ssh://-oProxyCommand=…`; `geo:-33.8,151.2` is a place.
const OPTION = /^[a-z][a-z0-9+.-]*:(?:\/\/(?:-|%2d)|(?:-|%2d)[^0-9.])/i;
const WEB = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;
const APP = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#@]*(?:[/?#]|$)|(?!\/\/)[^/])/i;

/** Returns where the address leads, or null for one that not every reader reads alike, or that must not be opened. */
export function readLink(address: string): Link | null {
  if (READ_DIFFERENTLY.test(address) || !(WEB.test(address) || APP.test(address))) return null;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || url.port === "0" || url.username || url.password) return null;
  const scheme = url.protocol.slice(0, -1);
  if (schemesOf(address).some((each) => NEVER_OPENED.has(each))) return null;
  if (scheme === "http" || scheme === "https") return WEB.test(address) ? { scheme, target: url.host } : null;
  if (OPTION.test(address)) return null;
  return { scheme, target: url.host ? `${scheme}://${url.host}` : `${scheme}:${url.pathname}` };
}

function schemesOf(address: string): string[] {
  return (SCHEMES.exec(address)?.[0] ?? "").toLowerCase().replaceAll("/", "").split(":");
}

/** Returns the address if it is a link to the web. */
export function webLink(value: unknown): string | null {
  if (typeof value !== "string") return null;
  return ["http", "https"].includes(readLink(value)?.scheme ?? "") ? value : null;
}

/** Returns the address if it is a link, to the web or into an app. */
export function anyLink(value: unknown): string | null {
  return typeof value === "string" && readLink(value) ? value : null;
}
