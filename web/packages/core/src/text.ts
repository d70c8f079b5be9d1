/** Text from others, made safe to show: nothing hidden, nothing reordered, nothing cut. */

/** A run of text; `isHidden` ones are written-out code points of characters a reader would not see. */
export interface Run {
  text: string;
  isHidden: boolean;
}

// Drawn as nothing: controls, formats (the bidirectional ones among them), lone surrogates, line and paragraph
// separators, selectors and what else Unicode sets aside for that, and blanks filed under letters, marks or symbols.
const UNDRAWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;
/** What would be drawn depends on the system. */
const UNASSIGNED = /[\p{Co}\p{Cn}]/u;
const SPACE = /\p{Zs}/u;
const WHITE = /\p{White_Space}/u;
const MARK = /[\p{Mn}\p{Me}]/u;
/** On one letter: as many as pointed Hebrew needs with its accents; a flood covers other lines. */
const MARKS_MAX = 4;
const PICTOGRAPH =
  /[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}]/u;
const KEYCAP_BASE = /^[0-9#*]$/;
// In these scripts joiners and non-joiners choose between forms of letters: they are spelling, not tricks.
const JOINING = /^(?=[\u0600-\u077f\u0860-\u0dff])[\p{L}\p{M}]$/u;
const NON_JOINER = "\u200c";
const JOINER = "\u200d";
const EMOJI_STYLE = "\ufe0f";
const KEYCAP = "\u20e3";
const TAB = "    ";
const PLAIN = /^[ -~]+$/;

/**
 * Splits `text` so that invisible and bidirectional characters can be shown by their code points, `‹U+202E›`.
 * `keepLines` false is for names: line breaks and tabs are written out too. The rule of `contract/visibility.py`, on the same
 * vectors; protocol.md "What is visible" has it in words.
 */
export function visibleRuns(text: string, { keepLines = true } = {}): Run[] {
  if (PLAIN.test(text)) return [{ text, isHidden: false }]; // most of a long diff: looked at once, not letter by letter
  const chars = Array.from(keepLines ? text.replaceAll("\r\n", "\n").replaceAll("\t", TAB) : text);
  const runs: Run[] = [];
  let marks = 0;
  chars.forEach((char, index) => {
    marks = MARK.test(char) ? marks + 1 : 0;
    const isBreak = keepLines && char === "\n";
    const isHidden = !isBreak && ((isInvisible(char) && !isExpected(chars, index)) || marks > MARKS_MAX);
    const shown = isHidden ? codePointName(char) : SPACE.test(char) ? " " : char;
    const last = runs.at(-1);
    if (last && !last.isHidden && !isHidden) last.text += shown;
    else runs.push({ text: shown, isHidden });
  });
  return runs;
}

/** The same as one string, for places that take no markup, such as a system notification. */
export function visibleText(text: string, options: { keepLines?: boolean } = {}): string {
  return visibleRuns(text, options)
    .map((run) => run.text)
    .join("");
}

/** `text` reduced to what tells it apart for an eye: equal results cannot be told apart on a screen. */
export function seenOf(text: string): string {
  const drawn = Array.from(text).filter((char) => WHITE.test(char) || !UNDRAWN.test(char));
  return drawn.join("").normalize("NFC").split(WHITE).filter(Boolean).join(" ");
}

function isInvisible(char: string): boolean {
  return UNDRAWN.test(char) || UNASSIGNED.test(char);
}

function isExpected(chars: string[], index: number): boolean {
  const char = chars[index] ?? "";
  const before = chars[index - 1] ?? "";
  const after = chars[index + 1] ?? "";
  if (char === EMOJI_STYLE) return PICTOGRAPH.test(before) || (KEYCAP_BASE.test(before) && after === KEYCAP);
  if (char === JOINER && (before === EMOJI_STYLE || PICTOGRAPH.test(before)) && PICTOGRAPH.test(after)) return true;
  return (char === JOINER || char === NON_JOINER) && JOINING.test(before) && JOINING.test(after);
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
