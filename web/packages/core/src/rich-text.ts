/**
 * The HTML that Pushover's senders write: five tags, entities, and text. What is none of these is text, so nothing but
 * letters, three styles, a tint and links can come out of it. Source: protocol.md "Keys and envelopes".
 */

import { anyLink } from "./links.ts";

export type RichNode =
  | { kind: "text"; text: string }
  | { kind: "b" | "i" | "u"; children: RichNode[] }
  | { kind: "font"; color: string | null; children: RichNode[] }
  | { kind: "a"; url: string | null; children: RichNode[] };

type Parent = Exclude<RichNode, { kind: "text" }>;

/** Deeper than anybody writes: further opening tags are passed over. */
export const DEPTH_MAX = 16;

const TAG = /<(\/?)(b|i|u|font|a)((?:\s[^<>]*)?)>/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const COLOR = /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})$/i;
const ATTRIBUTE = { href: attributeOf("href"), color: attributeOf("color") };

export function parseRichText(html: string): RichNode[] {
  const top: RichNode[] = [];
  const open: Parent[] = [];
  const inner = () => open.at(-1)?.children ?? top;
  const addText = (raw: string) => {
    if (raw !== "") inner().push({ kind: "text", text: decoded(raw) });
  };
  let end = 0;
  for (const match of html.matchAll(TAG)) {
    addText(html.slice(end, match.index));
    end = match.index + match[0].length;
    const kind = (match[2] ?? "").toLowerCase() as Parent["kind"];
    if (match[1]) {
      const level = open.map((node) => node.kind).lastIndexOf(kind);
      if (level >= 0) open.length = level;
    } else if (open.length < DEPTH_MAX) {
      const node = nodeOf(kind, match[3] ?? "");
      inner().push(node);
      open.push(node);
    }
  }
  addText(html.slice(end));
  return top;
}

/** The same without tags, for places that take no markup. Links say where they lead. */
export function plainOf(nodes: readonly RichNode[]): string {
  return nodes.map((node) => (node.kind === "text" ? node.text : plainOf(node.children))).join("");
}

function nodeOf(kind: Parent["kind"], attributes: string): Parent {
  if (kind === "a") return { kind, url: anyLink(read(attributes, "href")), children: [] };
  if (kind !== "font") return { kind, children: [] };
  const color = read(attributes, "color");
  return { kind, color: COLOR.test(color) ? color : null, children: [] };
}

function attributeOf(name: string): RegExp {
  return new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i");
}

function read(attributes: string, name: keyof typeof ATTRIBUTE): string {
  const match = ATTRIBUTE[name].exec(attributes);
  return decoded(match?.[1] ?? match?.[2] ?? match?.[3] ?? "").trim();
}

/** Once: what is written as `&amp;lt;` is shown as `&lt;`. */
function decoded(raw: string): string {
  return raw.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name) return NAMED[name.toLowerCase()] ?? whole;
    const point = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? "", 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
