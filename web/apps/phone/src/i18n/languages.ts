/** The languages the app speaks, and which of them a person reads. Pure. */

/** By the name each has in itself. Every one has a file of its own beside this one. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  it: "Italiano",
  pl: "Polski",
  pt: "Português",
  tr: "Türkçe",
  uk: "Українська",
  ar: "العربية",
  he: "עברית",
  hi: "हिन्दी",
  ja: "日本語",
  ko: "한국어",
  "zh-Hans": "简体中文",
  "zh-Hant": "繁體中文",
} as const;

export type Language = keyof typeof LANGUAGES;

/** Of those above, the ones that are written from right to left. */
const RIGHT_TO_LEFT: readonly string[] = ["ar", "he"];

export function directionOf(language: Language): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}

/**
 * The first language of `wanted` that the app speaks, English where it speaks none. `wanted` are BCP 47 tags, the
 * dearest first, as browsers give them: `zh-TW` is Chinese in traditional letters, `pt-BR` is Portuguese.
 */
export function languageFor(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const found = languageOf(tag);
    if (found) return found;
  }
  return "en";
}

/** The tag by which dates and numbers are written: the person's own country, where it is one of that language. */
export function localeFor(language: Language, wanted: readonly string[]): string {
  return wanted.find((tag) => languageOf(tag) === language) ?? language;
}

/** Null for a tag of a language that the app does not speak, and for what is no tag. */
function languageOf(tag: string): Language | null {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [`${language}-${script}`, language].find((name): name is Language => Object.hasOwn(LANGUAGES, name)) ?? null;
  } catch {
    return null;
  }
}
