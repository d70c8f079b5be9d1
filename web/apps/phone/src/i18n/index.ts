/**
 * The phone's own words, in the language that was chosen. Each is a message in ICU's format in `<language>.json`; the
 * build compiles them, so that no parser is loaded. What others wrote is never translated.
 */

import format, { type CompiledMessage, type FormatValues } from "icu-minify/format";
import type en from "./en.json";
import { directionOf, type Language } from "./languages.ts";

/** What there is to say. `en.json` is the source of all other files. */
export type Key = keyof typeof en;

/** The compiled messages of one language. */
export type Messages = Readonly<Record<string, CompiledMessage>>;

type Values = Readonly<Record<string, string | number>>;
/** A tag of a message is made into an element by the function of its name. */
type RichValues<Element> = Readonly<Record<string, string | number | ((inner: (string | Element)[]) => Element)>>;

const formatters = {
  getPluralRules: (...args: ConstructorParameters<typeof Intl.PluralRules>) => new Intl.PluralRules(...args),
  getNumberFormat: (...args: ConstructorParameters<typeof Intl.NumberFormat>) => new Intl.NumberFormat(...args),
  getDateTimeFormat: (...args: ConstructorParameters<typeof Intl.DateTimeFormat>) => new Intl.DateTimeFormat(...args),
};

const spoken: { language: Language | null; locale: string; messages: Messages } = {
  language: null,
  locale: "en",
  messages: {},
};

/** From now on it is this language. `locale` is the tag for dates and numbers. */
export function speak(language: Language, messages: Messages, locale: string = language): void {
  Object.assign(spoken, { language, messages, locale });
}

/** Null before the first one was loaded. */
export function spokenLanguage(): Language | null {
  return spoken.language;
}

/** The tag by which dates and numbers are written. */
export function spokenLocale(): string {
  return spoken.locale;
}

/** Says it in words. Names of others may be among `values`; they cannot turn the words around them. */
export function t(key: Key, values: Values = {}): string {
  return String(say(key, values));
}

/** Says it with elements in it: a message's `<tag>` becomes what the function of that name makes of its words. */
export function rich<Element>(key: Key, values: RichValues<Element>): (string | Element)[] {
  const said = say<Element>(key, values);
  return Array.isArray(said) ? said : [said];
}

function say<Element>(key: Key, values: RichValues<Element>): string | Element | (string | Element)[] {
  const language = spoken.language ?? "en";
  const isolated = Object.entries(values).map(([name, value]) => [name, isolate(value, language)] as const);
  const given = Object.fromEntries(isolated) as FormatValues<Element>;
  return format<Element>(spoken.messages[key] ?? key, language, given, { formatters });
}

const WRITTEN = {
  ltr: /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u,
  rtl: /[\p{L}\p{Nd}]/u,
} as const;

/** Puts what may run the other way between marks (Unicode's FSI and PDI), so that what stands beside it keeps its place. */
function isolate<Value>(value: Value, language: Language): Value | string {
  const mayTurn = typeof value === "string" && WRITTEN[directionOf(language)].test(value);
  return mayTurn ? `\u2068${value}\u2069` : value;
}
