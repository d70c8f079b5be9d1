/** Of the first token: who will use it. Its name stands on every question, so a person gives it before the first one. */

import type { NewToken } from "@reflecto/core";
import { useState } from "preact/hooks";
import { t } from "../../i18n/index.ts";
import { Problem } from "../controls.tsx";
import { messageOf, useApp } from "../hooks.ts";

export function NameStep(props: { token: NewToken; onNamed: (token: NewToken) => Promise<void> }) {
  const { token, onNamed } = props;
  const app = useApp();
  const [label, setLabel] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await app.changeToken(token.id, { label: label.trim() });
      await onNamed({ ...token, label: label.trim() });
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="form" onSubmit={submit}>
      <h1>{t("token.name")}</h1>
      <label class="field">
        {t("token.name.label")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          placeholder={t("tokens.new.example")}
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <small>{t("token.name.hint")}</small>
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary big" aria-disabled={isBusy}>
        {t("token.name.next")}
      </button>
    </form>
  );
}
