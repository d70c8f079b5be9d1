/** From the link to the first question in a minute: code and name, notifications, the token. */

import { ForeignReplyError, type NewToken, RefusedError, UnreachableError } from "@reflecto/core";
import { useState } from "preact/hooks";
import { addressOf } from "../../platform/place.ts";
import { suggestedLabel, tidyCode } from "../../state/enrol.ts";
import { CopyButton, Problem } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Mark } from "../icons.tsx";
import { HomeScreenHint, isIosOutsideHomeScreen, NotificationStep } from "./enrol-parts.tsx";
import { TestQuestion } from "./test-question.tsx";

type Step = { at: "code" } | { at: "notifications"; token: NewToken | null } | { at: "token"; token: NewToken };

export function Enrol({ onDone }: { onDone: () => void }) {
  const app = useApp();
  const [step, setStep] = useState<Step>({ at: "code" });
  const finish = () => {
    history.replaceState(null, "", addressOf("/"));
    onDone();
  };
  const afterNotifications = (token: NewToken | null) => (token ? setStep({ at: "token", token }) : finish());
  const number = ["code", "notifications", "token"].indexOf(step.at) + 1;
  return (
    <main class="welcome">
      <div class="welcome-head">
        <Mark />
        <p class="step">Step {number} of 3</p>
      </div>
      {step.at === "code" && (
        <CodeStep
          isPaired={app.session !== null}
          onPaired={(token) => {
            history.replaceState(null, "", addressOf("/enroll")); // the code is used: it need not stay in the history
            if (app.notifications.push === "unasked") setStep({ at: "notifications", token });
            else afterNotifications(token);
          }}
          onCancel={finish}
        />
      )}
      {step.at === "notifications" && <NotificationStep onNext={() => afterNotifications(step.token)} />}
      {step.at === "token" && (
        <TokenStep
          token={step.token}
          onAsked={finish} // not copied yet, perhaps: it stays in the inbox
          onCopied={() => void app.eraseToken(step.token.id).then(finish)}
        />
      )}
    </main>
  );
}

interface CodeStepProps {
  isPaired: boolean;
  onPaired: (token: NewToken | null) => void;
  onCancel: () => void;
}

function CodeStep({ isPaired, onPaired, onCancel }: CodeStepProps) {
  const app = useApp();
  const given = tidyCode(location.hash.startsWith("#/") ? "" : location.hash);
  const [code, setCode] = useState(given);
  const [label, setLabel] = useState(suggestedLabel(navigator.userAgent));
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      onPaired(await app.enrol(code, label.trim()));
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };

  return (
    <form class="form" onSubmit={submit}>
      <h1>Pair this phone</h1>
      {isPaired && (
        <p class="notice">This browser is paired already. Pairing again replaces its keys and erases its history.</p>
      )}
      {isIosOutsideHomeScreen() && <HomeScreenHint code={given} />}
      <label class="field">
        Setup code
        <input
          class="code"
          value={code}
          required
          autoCapitalize="characters"
          autoComplete="off"
          spellcheck={false}
          placeholder="XXXX-XXXX-XXXX-XXXX"
          pattern=".{19}"
          title="16 letters and digits"
          onInput={(event) => setCode(tidyCode(event.currentTarget.value))}
        />
        <small>
          The server prints it when it starts; <code>reflecto invite</code> makes another.
        </small>
      </label>
      <label class="field">
        Name of this phone
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <small>Shown to whoever asks, and on your other devices.</small>
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary big" aria-disabled={isBusy}>
        {isBusy ? "Pairing…" : "Pair"}
      </button>
      {isPaired && (
        <button type="button" class="button big" onClick={onCancel}>
          Stay as it is
        </button>
      )}
      <p class="fine">
        A phone of yours is paired already? <a href={addressOf("/pair")}>Pair with it</a> instead.
      </p>
      <p class="fine">Keys are made in this browser and never leave it.</p>
    </form>
  );
}

function TokenStep(props: { token: NewToken; onAsked: () => void; onCopied: () => void }) {
  const { token, onAsked, onCopied } = props;
  const command = [
    `curl ${location.origin}${addressOf("/v1/interactions")} \\`,
    `  -H 'Authorization: Bearer ${token.token}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"question": "Deploy to production?"}'`,
  ].join("\n");
  return (
    <section class="form wide">
      <h1>Your first token</h1>
      <p>
        Scripts ask with it. It is shown <strong>only now</strong>; you can make and revoke others in the settings.
      </p>
      <div class="secret">
        <code>{token.token}</code>
        <CopyButton text={token.token} label="Copy token" />
      </div>
      <h2>Ask from a terminal</h2>
      <div class="secret">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>{command}</pre>
        <CopyButton text={command} label="Copy command" />
      </div>
      <TestQuestion token={token.token} onAsked={onAsked} />
      <button type="button" class="button big" onClick={onCopied}>
        I have copied it
      </button>
    </section>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ForeignReplyError) return `${error.message}. The code is not used up.`;
  if (error instanceof UnreachableError) return "The server cannot be reached. Is this phone online?";
  if (!(error instanceof RefusedError)) return "This browser could not make or keep the keys. Is it a private window?";
  if (error.code === "invalid_code") return "This code is wrong, used or older than 10 minutes. Ask for a new one.";
  if (error.status === 429) return `Too many wrong codes. Try again in ${error.retryAfterSeconds || 60} seconds.`;
  return error.message;
}
