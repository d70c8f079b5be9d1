/** What a person chooses for this browser: how it looks and which language it speaks; and installing it. */

import { useEffect, useReducer, useState } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { LANGUAGES } from "../../i18n/languages.ts";
import { canInstall, install, onOffer } from "../../platform/install.ts";
import { type LanguageChoice, recallLanguage } from "../../platform/language.ts";
import { chooseTheme, recallTheme, type Theme } from "../../platform/theme.ts";
import { WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";

export function LanguageRow() {
  const app = useApp();
  const [choice, setChoice] = useState<LanguageChoice>("auto");
  useEffect(() => void recallLanguage(app.database).then(setChoice), [app]);
  const choose = (next: LanguageChoice) => {
    setChoice(next);
    void app.chooseLanguage(next);
  };
  return (
    <section class="group">
      <label class="group-row wrap">
        <span class="grow">
          <strong>{t("settings.language")}</strong>
          <small>{t("settings.language.hint")}</small>
        </span>
        <select class="narrow" value={choice} onChange={(event) => choose(event.currentTarget.value as LanguageChoice)}>
          <option value="auto">{t("settings.language.auto")}</option>
          {Object.entries(LANGUAGES).map(([language, name]) => (
            <option key={language} value={language} lang={language}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}

const THEMES: readonly [Theme, Key][] = [
  ["auto", "theme.auto"],
  ["light", "theme.light"],
  ["dark", "theme.dark"],
];

export function AppearanceRow() {
  const { database } = useApp();
  const [theme, setTheme] = useState<Theme>("auto");
  useEffect(() => void recallTheme(database).then(setTheme), [database]);
  return (
    <section class="group">
      <div class="group-row wrap">
        <span class="grow">
          <strong>{t("settings.appearance")}</strong>
          <small>{t("settings.appearance.hint")}</small>
        </span>
        <div class="segments" role="group" aria-label={t("settings.appearance")}>
          {THEMES.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={theme === name}
              onClick={() => {
                setTheme(name);
                void chooseTheme(database, name);
              }}
            >
              {t(label)}
            </button>
          ))}
        </div>
      </div>
    </section>
  );
}

/** Only where the browser offers it. */
export function InstallRow() {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => onOffer(() => redraw(undefined)), []);
  if (!canInstall()) return null;
  return (
    <section class="group">
      <div class="group-row wrap">
        <span class="grow">
          <strong>{t("settings.install")}</strong>
          <small>{t("settings.install.hint")}</small>
        </span>
        <WorkButton work={install}>{t("settings.install.do")}</WorkButton>
      </div>
    </section>
  );
}
