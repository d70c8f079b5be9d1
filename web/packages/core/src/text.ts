/** Text from others, made safe to show: nothing hidden, nothing reordered, nothing cut. */

/** A run of text; `isHidden` ones are written-out code points of characters a reader would not see. */
export interface Run {
  text: string;
  isHidden: boolean;
}

// Controls, formats (the bidirectional ones among them), lone surrogates, private and unassigned code points, line and
// paragraph separators; then what is drawn as nothing although Unicode files it under letters, marks or symbols.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}/u;
const KEYCAP_BASE = /[0-9#*]/;
// Joiners and non-joiners choose between letter forms here and change what is read: they are spelling, not tricks.
const JOINING_SCRIPT =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}]/u;
const NON_JOINER = "\u200c";
const JOINER = "\u200d";
const EMOJI_STYLE = "\ufe0f";
const KEYCAP = "\u20e3";

/** Splits `text` so that invisible and bidirectional characters can be shown by their code points, `‹U+202E›`. */
export function visibleRuns(text: string): Run[] {
  const chars = Array.from(text.replaceAll("\r\n", "\n"));
  const runs: Run[] = [];
  chars.forEach((char, index) => {
    const isHidden = HIDDEN.test(char) && !isExpected(chars, index);
    const shown = isHidden ? codePointName(char) : char;
    const last = runs.at(-1);
    if (last && !last.isHidden && !isHidden) last.text += shown;
    else runs.push({ text: shown, isHidden });
  });
  return runs;
}

/** The same as one string, for places that take no markup, such as a system notification. */
export function visibleText(text: string): string {
  return visibleRuns(text)
    .map((run) => run.text)
    .join("");
}

function isExpected(chars: string[], index: number): boolean {
  const char = chars[index] ?? "";
  if (char === "\n" || char === "\t") return true;
  const before = chars[index - 1] ?? "";
  const after = chars[index + 1] ?? "";
  if (char === EMOJI_STYLE) return PICTOGRAPH.test(before) || (KEYCAP_BASE.test(before) && after === KEYCAP);
  if (char === JOINER && (before === EMOJI_STYLE || PICTOGRAPH.test(before)) && PICTOGRAPH.test(after)) return true;
  return (char === JOINER || char === NON_JOINER) && JOINING_SCRIPT.test(before) && JOINING_SCRIPT.test(after);
}

function codePointName(char: string): string {
  const digits = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `‹U+${digits}›`;
}

/** A time span the way a clock counts it down: `9:41`, or `1:02:03` from an hour on; rounded up, `0:00` means over. */
export function countdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const two = (value: number) => value.toString().padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
