/** The language of this browser's person: chosen here, or the browser's own. Page and worker speak the same. */

import { type Database, recall, remember } from "@reflecto/browser";
import { type Messages, speak, spokenLanguage } from "../i18n/index.ts";
import { LANGUAGES, type Language, languageFor, localeFor } from "../i18n/languages.ts";

/** `auto`: whatever the browser prefers. */
export type LanguageChoice = Language | "auto";

interface Preferences {
  language: LanguageChoice;
}

/** Put in by the build. */
declare const __LANGUAGES__: Readonly<Record<Language, string>>;
/** The path of each language's file. A function, since what is not built has none. */
const files = () => __LANGUAGES__;

export async function recallLanguage(database: Database): Promise<LanguageChoice> {
  const chosen = await recall<Preferences>(database, "language");
  return chosen && Object.hasOwn(LANGUAGES, chosen) ? chosen : "auto";
}

export async function rememberLanguage(database: Database, choice: LanguageChoice): Promise<void> {
  await remember<Preferences>(database, "language", choice);
}

/** The path of the file with the words of what was chosen. */
export function languageFile(choice: LanguageChoice): string {
  return files()[languageOf(choice)];
}

/** Whether a path is that of some language's file: none but the chosen one is kept. */
export function isLanguageFile(path: string): boolean {
  return Object.values(files()).includes(path);
}

/** Loads the words of what was chosen; English where they cannot be had. `load` gets a file of the app by its path. */
export async function speakLanguage(choice: LanguageChoice, load: (path: string) => Promise<Response>): Promise<void> {
  const wanted = languageOf(choice);
  for (const language of new Set<Language>([wanted, "en"])) {
    if (language === spokenLanguage()) return;
    const messages = await load(files()[language])
      .then((response) => (response.ok ? (response.json() as Promise<Messages>) : null))
      .catch(() => null);
    if (messages) return speak(language, messages, localeFor(language, navigator.languages));
  }
}

function languageOf(choice: LanguageChoice): Language {
  return choice === "auto" ? languageFor(navigator.languages) : choice;
}
