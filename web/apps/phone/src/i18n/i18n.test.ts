import compile from "icu-minify/compile";
import type { CompiledMessage } from "icu-minify/format";
import { afterEach, expect, test } from "vitest";
import en from "./en.json";
import { rich, speak, t } from "./index.ts";
import { directionOf, LANGUAGES, type Language, languageFor, localeFor } from "./languages.ts";

type Words = Record<string, string>;

const files = import.meta.glob<Words>("./*.json", { eager: true, import: "default" });
const wordsOf = (language: string) => files[`./${language}.json`] ?? {};
const languages = Object.keys(LANGUAGES);
const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.ts", "!../**/*.testing.ts"], {
  eager: true,
  query: "?raw",
  import: "default",
});

const compiled = (words: Words) => Object.fromEntries(Object.entries(words).map(([key, text]) => [key, compile(text)]));

afterEach(() => speak("en", compiled(en)));

/** What a message is made of: each argument and tag with its kind, and the forms of each plural. */
function partsOf(message: CompiledMessage): { names: Set<string>; plurals: { kind: number; forms: string[] }[] } {
  const names = new Set<string>();
  const plurals: { kind: number; forms: string[] }[] = [];
  const walk = (nodes: unknown): void => {
    for (const node of Array.isArray(nodes) ? nodes : []) {
      if (!Array.isArray(node)) continue;
      const [name, kind, options] = node as [string, unknown, Record<string, unknown>?];
      const isFormatted = typeof kind === "number" && kind !== POUND;
      names.add(isFormatted ? `${name} ${kind}` : kind === undefined ? name : `<${name}>`);
      if (kind === PLURAL || kind === ORDINAL) plurals.push({ kind, forms: Object.keys(options ?? {}) });
      for (const branch of isFormatted ? Object.values(options ?? {}) : [node.slice(1)]) walk(branch);
    }
  };
  walk(message);
  return { names, plurals };
}
const POUND = 0;
const PLURAL = 2;
const ORDINAL = 3;

test("each language has a file, and each file is of a language", () => {
  expect(Object.keys(files).sort()).toEqual(languages.map((language) => `./${language}.json`).sort());
});

test.each(languages)("in %s no message is missing, and none is left over", (language) => {
  expect(Object.keys(wordsOf(language))).toEqual(Object.keys(en));
});

test.each(languages)("in %s each message takes what it takes in English", (language) => {
  for (const [key, text] of Object.entries(wordsOf(language))) {
    const parts = partsOf(compile(text));
    // What counts in English need not count elsewhere, but it is said: as a plural, as an ordinal or as a plain number.
    const names = (of: typeof parts) => new Set([...of.names].map((name) => name.replace(/ [23]$/, "")));
    expect(names(parts), key).toEqual(names(partsOf(compile((en as Words)[key] ?? ""))));
  }
});

test.each(languages)("in %s each plural has the forms that the language needs, and no other", (language) => {
  for (const [key, text] of Object.entries(wordsOf(language))) {
    for (const { kind, forms } of partsOf(compile(text)).plurals) {
      const type = kind === PLURAL ? "cardinal" : "ordinal";
      const needed = new Intl.PluralRules(language, { type }).resolvedOptions().pluralCategories;
      expect(forms.filter((form) => !form.startsWith("=")).sort(), key).toEqual([...needed].sort());
    }
  }
});

test("every message is said somewhere, under its key written out", () => {
  const said = Object.values(sources).join("\n");
  expect(Object.keys(en).filter((key) => !said.includes(`"${key}"`))).toEqual([]);
});

test("messages stand in the order of their keys, so that two people's new ones rarely meet", () => {
  expect(Object.keys(en)).toEqual(Object.keys(en).sort());
});

test("a number chooses its words", () => {
  expect(t("enrol.problem.many", { seconds: 1 })).toBe("Too many wrong codes. Try again in 1 second.");
  expect(t("enrol.problem.many", { seconds: 60 })).toBe("Too many wrong codes. Try again in 60 seconds.");
});

test.each([
  [1, "1st"],
  [2, "2nd"],
  [3, "3rd"],
  [11, "11th"],
  [22, "22nd"],
])("round %i is the %s", (round, shown) => {
  expect(t("emergency.rounds", { seconds: 60, time: "13:04", round })).toContain(`${shown} time`);
});

test("the forms of a plural are those of the language: Ukrainian has three for whole numbers, Arabic more", () => {
  const said = (language: Language, count: number) => {
    speak(language, compiled(wordsOf(language)));
    return t("history.asked_times", { count, from: "1", to: "2" }).replace(/[,،].*/, "");
  };
  expect([1, 2, 5].map((count) => said("uk", count))).toEqual([
    "запитано 1 раз",
    "запитано 2 рази",
    "запитано 5 разів",
  ]);
  expect(new Set([0, 1, 2, 3, 11].map((count) => said("ar", count)))).toHaveProperty("size", 5);
});

test("a tag becomes what its function makes of its words", () => {
  const said = rich<object>("token.first.hint", { b: (inner) => ({ strong: inner }) });
  expect(said[1]).toEqual({ strong: ["only now"] });
});

test("a name that runs the other way keeps to its place, and any other stays as it is", () => {
  expect(t("ring.title", { name: "דלת" })).toBe("\u2068דלת\u2069 is ringing");
  expect(t("ring.title", { name: "Tür 2" })).toBe("Tür 2 is ringing");
});

test.each([
  [["pt-BR", "en"], "pt"],
  [["zh-TW"], "zh-Hant"],
  [["zh-HK"], "zh-Hant"],
  [["zh-CN"], "zh-Hans"],
  [["zh"], "zh-Hans"],
  [["iw"], "he"],
  [["nn-NO", "uk-UA"], "uk"],
  [["nn-NO"], "en"],
  [["not a tag"], "en"],
  [[], "en"],
] as const)("a browser that wants %s gets %s", (wanted, language) => {
  expect(languageFor(wanted)).toBe(language);
});

test("dates are written as in the person's own country, where it speaks that language", () => {
  expect(localeFor("en", ["de-DE", "en-GB", "en-US"])).toBe("en-GB");
  expect(localeFor("en", ["de-DE"])).toBe("en");
});

test("Arabic and Hebrew are written from right to left, all others from left to right", () => {
  const rtl = (Object.keys(LANGUAGES) as Language[]).filter((language) => directionOf(language) === "rtl");
  expect(rtl).toEqual(["ar", "he"]);
});
