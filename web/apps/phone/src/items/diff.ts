/** A unified diff as lines to be looked at: what is added and removed, with long runs folded. Pure. */

export type Sign = "add" | "del" | "same" | "note";

export interface DiffLine {
  sign: Sign;
  /** In the file before, for what is removed, otherwise in the file after; null where the diff does not say. */
  number: number | null;
  text: string;
}

/** Lines with one sign; `isFolded`: they are drawn when the person asks for them. */
export interface Stretch {
  lines: readonly DiffLine[];
  isFolded: boolean;
}

/** One place of the file. `line` is null in front of the first `@@`. */
export interface Hunk {
  line: number | null;
  heading: string;
  stretches: readonly Stretch[];
}

export interface Diff {
  hunks: readonly Hunk[];
  added: number;
  removed: number;
}

/** A run of equal sign that is longer is folded, but for its beginning and its end. */
const FOLD_FROM_LINES = 25;
const HEAD_LINES = 6;
const TAIL_LINES = 3;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const SIGNS: Readonly<Record<string, Sign>> = { "+": "add", "-": "del", " ": "same" };

/** Nothing of `text` is left out: what is no line of a diff stays as it is, as a note. */
export function readDiff(text: string): Diff {
  const places: { line: number | null; heading: string; lines: DiffLine[] }[] = [];
  // What the heading promised: behind it `--- a` is the head of the next file, within it a removed line.
  let before = { next: 0, left: 0 };
  let after = { next: 0, left: 0 };
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const heading = before.left <= 0 && after.left <= 0 ? HUNK.exec(line) : null;
    if (heading) {
      const [, from, fromCount, to, toCount, rest] = heading;
      before = { next: Number(from), left: Number(fromCount ?? 1) };
      after = { next: Number(to), left: Number(toCount ?? 1) };
      places.push({ line: after.next, heading: rest ?? "", lines: [] });
      continue;
    }
    const isWithin = before.left > 0 || after.left > 0;
    const sign = isWithin ? (line === "" ? "same" : (SIGNS[line.charAt(0)] ?? "note")) : "note";
    const number = sign === "note" ? null : sign === "del" ? before.next : after.next;
    if (sign === "del" || sign === "same") before = { next: before.next + 1, left: before.left - 1 };
    if (sign === "add" || sign === "same") after = { next: after.next + 1, left: after.left - 1 };
    const place = places.at(-1) ?? { line: null, heading: "", lines: [] };
    if (places.length === 0) places.push(place);
    place.lines.push({ sign, number, text: sign === "note" ? line : line.slice(1) });
  }
  const lines = places.flatMap((place) => place.lines);
  return {
    hunks: places.map(({ line, heading, lines: own }) => ({ line, heading, stretches: stretchesOf(own) })),
    added: lines.filter(({ sign }) => sign === "add").length,
    removed: lines.filter(({ sign }) => sign === "del").length,
  };
}

function stretchesOf(lines: readonly DiffLine[]): Stretch[] {
  const runs: DiffLine[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (run?.[0]?.sign === line.sign) run.push(line);
    else runs.push([line]);
  }
  return runs.flatMap((run) => {
    if (run.length < FOLD_FROM_LINES) return [{ lines: run, isFolded: false }];
    const end = run.length - TAIL_LINES;
    return [
      { lines: run.slice(0, HEAD_LINES), isFolded: false },
      { lines: run.slice(HEAD_LINES, end), isFolded: true },
      { lines: run.slice(end), isFolded: false },
    ];
  });
}

/** How many stretches of it are folded at first. */
export function foldCount({ hunks }: Diff): number {
  return hunks.flatMap(({ stretches }) => stretches).filter(({ isFolded }) => isFolded).length;
}
