/** What a message says, in the form its sender gave it: plain, the five tags of Pushover's HTML, or a typewriter's letters. */

import { type Body, fromBase64, parseRichText, type RichNode } from "@reflecto/core";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { OutLink, Visible } from "./text.tsx";

type Said = Pick<Body, "message" | "html" | "monospace" | "image">;

/** `isLead`: it stands in the place of a title. `from` is who sent it. */
export function MessageText(props: { payload: Said; from: string; isLead?: boolean }) {
  const { message, html, monospace, image } = props.payload;
  const Tag = props.isLead ? "h1" : "p";
  return (
    <>
      <Tag class={monospace ? "note-text mono" : "note-text"} dir="auto">
        {html ? rich(parseRichText(message)) : <Visible text={message} />}
      </Tag>
      {image && <Picture media_type={image.media_type} data={image.data} alt={`Picture from ${props.from}`} />}
    </>
  );
}

function rich(nodes: readonly RichNode[]): ComponentChildren[] {
  return nodes.map(one);
}

function one(node: RichNode): ComponentChildren {
  if (node.kind === "text") return <Visible text={node.text} />;
  const inner = rich(node.children);
  switch (node.kind) {
    case "b":
      return <strong>{inner}</strong>;
    case "i":
      return <em>{inner}</em>;
    case "u":
      return <u>{inner}</u>;
    case "font":
      return node.color ? <Tinted color={node.color}>{inner}</Tinted> : inner;
    case "a":
      return node.url ? <OutLink url={node.url} label={inner} /> : inner;
  }
}

/** Mixed with the text's own colour, so that nothing can be hidden by its colour. */
function Tinted({ color, children }: { color: string; children: ComponentChildren }) {
  return <span style={{ color: `color-mix(in srgb, ${color} 40%, currentcolor)` }}>{children}</span>;
}

/** Made on the page: nothing is loaded from anywhere. */
function Picture({ media_type, data, alt }: { media_type: string; data: string; alt: string }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([fromBase64(data)], { type: media_type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [media_type, data]);
  return url && <img class="picture" src={url} alt={alt} />;
}
