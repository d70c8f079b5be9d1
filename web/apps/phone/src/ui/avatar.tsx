/** The letter and the colour by which a sender is known at a glance. The name beside it says the same in words. */

import type { Source } from "@reflecto/core";
import { sourceName } from "../items/outcome.ts";

/** As the server gives them, in this order. */
export const COLOURS = ["teal", "violet", "amber", "blue", "rose", "olive", "slate", "brick"] as const;
export type Colour = (typeof COLOURS)[number];

/** Of a sender. `source` is what an envelope says of it. */
export function SenderAvatar({ source, isSmall }: { source: Source & { colour?: string }; isSmall?: boolean }) {
  const name = sourceName(source);
  return <Avatar name={name} colour={colourOf(name, source.colour)} isSmall={isSmall === true} />;
}

export function Avatar(props: { name: string; colour: Colour; isSmall?: boolean; isMuted?: boolean }) {
  const kinds = ["avatar", `sender-${props.colour}`, props.isSmall && "small", props.isMuted && "muted"];
  return (
    <span class={kinds.filter(Boolean).join(" ")} aria-hidden="true">
      {Array.from(props.name)[0]?.toLocaleUpperCase()}
    </span>
  );
}

/** The one it was given, or, from a server that gives none, always the same one for a name. */
export function colourOf(name: string, given: string | null | undefined): Colour {
  const known = COLOURS.find((colour) => colour === given);
  const sum = Array.from(name).reduce((total, char) => total + (char.codePointAt(0) ?? 0), 0);
  return known ?? COLOURS[sum % COLOURS.length] ?? "teal";
}
