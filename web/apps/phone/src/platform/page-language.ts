/** Shows the page in the language that was chosen, in the direction it is written in. */

import { spokenLanguage } from "../i18n/index.ts";
import { directionOf } from "../i18n/languages.ts";
import { type LanguageChoice, speakLanguage } from "./language.ts";
import { addressOf } from "./place.ts";

export async function showLanguage(choice: LanguageChoice): Promise<void> {
  await speakLanguage(choice, (path) => fetch(addressOf(path)));
  const language = spokenLanguage() ?? "en";
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}
