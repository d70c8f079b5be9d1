/** Sender tokens: make (shown once), see, change. */

import type { CreateTokenRequest, NewToken } from "@reflecto/core";
import { useState } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { latestFirst } from "../../state/tokens.ts";
import { CopyButton, Empty, Problem } from "../controls.tsx";
import { messageOf, useApp, useLoaded } from "../hooks.ts";
import { Name } from "../text.tsx";
import { TokenRow } from "./token-row.tsx";

type Scope = NonNullable<CreateTokenRequest["scopes"]>[number];
type Cap = NonNullable<CreateTokenRequest["priority_cap"]>;

const CAPS: readonly Cap[] = ["min", "low", "default", "high", "urgent"];
const SCOPES: readonly [Scope, Key][] = [
  ["ask", "scope.ask"],
  ["send", "scope.send"],
  ["files", "scope.files"],
  ["remind", "scope.remind"],
  ["ring", "scope.ring"],
];

export function Tokens() {
  const app = useApp();
  const tokens = useLoaded(() => app.tokens());
  const [made, setMade] = useState<NewToken | null>(null);
  return (
    <div class="settings">
      {made ? (
        <MadeToken token={made} onDone={() => setMade(null)} />
      ) : (
        <NewTokenForm
          onMade={(token) => {
            setMade(token);
            void tokens.reload();
          }}
        />
      )}
      {tokens.error && <Problem text={tokens.error} />}
      {tokens.value?.length === 0 && (
        <Empty icon="key" title={t("tokens.none")}>
          {t("tokens.none.hint")}
        </Empty>
      )}
      {tokens.value && tokens.value.length > 0 && (
        <ul class="group">
          {latestFirst(tokens.value).map((token) => (
            <TokenRow key={token.id} token={token} onChanged={tokens.reload} />
          ))}
        </ul>
      )}
    </div>
  );
}

function MadeToken({ token, onDone }: { token: NewToken; onDone: () => void }) {
  return (
    <section class="group made">
      <h3>
        <Name text={token.label} />
      </h3>
      <p>{t("tokens.once")}</p>
      <div class="secret">
        <code>{token.token}</code>
        <CopyButton text={token.token} label={t("token.copy")} />
      </div>
      <button type="button" class="button" onClick={onDone}>
        {t("token.copied")}
      </button>
    </section>
  );
}

/** The choice of a `<select>`; null where there is to be no cap. */
function capOf(value: string): Cap | null {
  return CAPS.find((cap) => cap === value) ?? null;
}

function NewTokenForm({ onMade }: { onMade: (token: NewToken) => void }) {
  const app = useApp();
  const [label, setLabel] = useState("");
  const [cap, setCap] = useState<Cap | null>(null);
  const [scopes, setScopes] = useState<readonly Scope[]>(SCOPES.map(([name]) => name));
  const [isTest, setTest] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy || !app.session) return;
    setBusy(true);
    setProblem(null);
    const request: CreateTokenRequest = { label: label.trim(), scopes, test: isTest };
    if (cap) request.priority_cap = cap;
    try {
      onMade(await app.session.api.createToken(request));
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  const toggle = (name: string, isOn: boolean) =>
    setScopes(SCOPES.map(([scope]) => scope).filter((scope) => (scope === name ? isOn : scopes.includes(scope))));

  return (
    <form class="group made" onSubmit={submit}>
      <label class="field">
        {t("tokens.new")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          placeholder={t("tokens.new.example")}
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      <details class="limits">
        <summary>{t("tokens.limit")}</summary>
        <fieldset>
          <legend class="visually-hidden">{t("tokens.scopes")}</legend>
          {SCOPES.map(([name, text]) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={scopes.includes(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
              />
              {t(text)}
            </label>
          ))}
        </fieldset>
        <label class="field">
          {t("tokens.priority")}
          <select value={cap ?? ""} onChange={(event) => setCap(capOf(event.currentTarget.value))}>
            <option value="">{t("tokens.priority.any")}</option>
            {CAPS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <small>{t("tokens.priority.hint")}</small>
        </label>
        <label class="check">
          <input type="checkbox" checked={isTest} onChange={(event) => setTest(event.currentTarget.checked)} />
          {t("tokens.is_test")}
        </label>
      </details>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary" aria-disabled={isBusy || scopes.length === 0}>
        {t("tokens.make")}
      </button>
    </form>
  );
}
