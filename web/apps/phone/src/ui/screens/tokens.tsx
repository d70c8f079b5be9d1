/** Sender tokens: make (shown once), see, revoke. */

import type { CreateTokenRequest, NewToken, TokenState } from "@reflecto/core";
import { useState } from "preact/hooks";
import { ConfirmButton, CopyButton, Empty, Problem } from "../controls.tsx";
import { messageOf, useApp, useLoaded } from "../hooks.ts";
import { Name, When } from "../text.tsx";

type Scope = NonNullable<CreateTokenRequest["scopes"]>[number];
type Cap = NonNullable<CreateTokenRequest["priority_cap"]>;

const CAPS: readonly Cap[] = ["min", "low", "default", "high", "urgent"];
const SCOPES: readonly [Scope, string][] = [
  ["ask", "Ask questions"],
  ["send", "Send messages"],
  ["files", "Send documents"],
  ["remind", "Set reminders"],
  ["ring", "Ring this phone"],
];

export function Tokens() {
  const app = useApp();
  const tokens = useLoaded(async () => (await app.session?.api.tokens())?.tokens ?? []);
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
        <Empty icon="key" title="No tokens">
          Without one nobody can ask you anything.
        </Empty>
      )}
      {tokens.value && tokens.value.length > 0 && (
        <ul class="group">
          {tokens.value.map((token) => (
            <TokenRow key={token.id} token={token} onRevoked={tokens.reload} />
          ))}
        </ul>
      )}
    </div>
  );
}

function TokenRow({ token, onRevoked }: { token: TokenState; onRevoked: () => Promise<void> }) {
  const app = useApp();
  const limits = [
    token.test ? "test" : null,
    token.priority_cap ? `up to ${token.priority_cap}` : null,
    token.scopes.length < SCOPES.length ? token.scopes.join(", ") : null,
  ].filter((limit) => limit !== null);
  return (
    <li class="group-row wrap">
      <span class="grow">
        <strong>
          <Name text={token.label} />
        </strong>
        <small>
          {token.last_used_at === null ? (
            "Never used"
          ) : (
            <>
              Last used <When ts={token.last_used_at} now={app.now()} />
            </>
          )}
          {limits.length > 0 && ` · ${limits.join(" · ")}`}
        </small>
      </span>
      <ConfirmButton
        label="Revoke"
        question={`Revoke “${token.label}”? Whoever uses it is shut out at once, and its open questions vanish.`}
        confirm="Revoke it"
        work={async () => {
          await app.session?.api.revokeToken(token.id);
          await onRevoked();
        }}
      />
    </li>
  );
}

function MadeToken({ token, onDone }: { token: NewToken; onDone: () => void }) {
  return (
    <section class="group made">
      <h3>
        <Name text={token.label} />
      </h3>
      <p>Shown only now. Copy it to where it is needed.</p>
      <div class="secret">
        <code>{token.token}</code>
        <CopyButton text={token.token} label="Copy token" />
      </div>
      <button type="button" class="button" onClick={onDone}>
        I have copied it
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
        New token for
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          placeholder="CI, laptop, backup job…"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
      </label>
      <details class="limits">
        <summary>Limit what it may do</summary>
        <fieldset>
          <legend class="visually-hidden">Scopes</legend>
          {SCOPES.map(([name, text]) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={scopes.includes(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
              />
              {text}
            </label>
          ))}
        </fieldset>
        <label class="field">
          Highest priority
          <select value={cap ?? ""} onChange={(event) => setCap(capOf(event.currentTarget.value))}>
            <option value="">Any</option>
            {CAPS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <small>Questions count as high.</small>
        </label>
        <label class="check">
          <input type="checkbox" checked={isTest} onChange={(event) => setTest(event.currentTarget.checked)} />
          Test token: checked like any other, reaches no device
        </label>
      </details>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary" aria-disabled={isBusy || scopes.length === 0}>
        Make token
      </button>
    </form>
  );
}
