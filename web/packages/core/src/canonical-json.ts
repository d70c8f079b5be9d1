/** RFC 8785 (JSON Canonicalization Scheme), for strings, safe integers, arrays and objects. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Throws RangeError on a lone surrogate or a number that is not a safe integer: neither has one canonical form here. */
export function canonicalJson(value: Json): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new RangeError("not a safe integer");
    return JSON.stringify(value);
  }
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  // RFC 8785 3.2.3: names in the order of their UTF-16 code units, which is what sort() compares.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${quote(name)}:${canonicalJson(member)}`).join(",")}}`;
}

function quote(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError("lone surrogate");
  return JSON.stringify(text); // RFC 8785 3.2.2.2 is ECMAScript's own form
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
