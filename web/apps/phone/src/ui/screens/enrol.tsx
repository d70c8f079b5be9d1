/** From the link to the first question in a minute: code and name, notifications, the token. */

import { ForeignReplyError, type NewToken, RefusedError, UnreachableError } from "@reflecto/core";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { rich, t } from "../../i18n/index.ts";
import { addressOf } from "../../platform/place.ts";
import { suggestedLabel, tidyCode, type Unfinished } from "../../state/enrol.ts";
import { CopyButton, Problem } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Mark } from "../icons.tsx";
import { HomeScreenHint, isIosOutsideHomeScreen, NotificationStep } from "./enrol-parts.tsx";
import { NameStep } from "./name-step.tsx";
import { TestQuestion } from "./test-question.tsx";
import { Welcome, WhatThisIs } from "./welcome.tsx";

type Step = { at: "welcome" | "code" } | Unfinished;

export function Enrol({ onDone }: { onDone: () => void }) {
  const app = useApp();
  const [step, setStep] = useState<Step>(() => firstStep(app.unfinished));
  const finish = async () => {
    await app.reachEnrolment(null);
    history.replaceState(null, "", addressOf("/"));
    onDone();
  };
  const reach = async (next: Unfinished) => {
    if (next.at !== "notifications" && !next.token) return finish();
    await app.reachEnrolment(next);
    setStep(next);
  };
  if (step.at === "welcome") return <Welcome onNext={() => setStep({ at: "code" })} />;
  return (
    <main class="welcome">
      <div class="welcome-head">
        <Mark />
        <p class="step">{t("enrol.step", { step: STEPS[step.at], steps: STEPS.token })}</p>
      </div>
      {step.at === "code" && (
        <CodeStep
          isPaired={app.session !== null}
          onPaired={(token) => {
            history.replaceState(null, "", addressOf("/enroll")); // the code is used: it need not stay in the history
            return reach({ at: app.notifications.push === "unasked" ? "notifications" : "name", token });
          }}
          onCancel={finish}
        />
      )}
      {step.at === "notifications" && <NotificationStep onNext={() => reach({ at: "name", token: step.token })} />}
      {step.at === "name" && step.token && (
        <NameStep token={step.token} onNamed={(token) => reach({ at: "token", token })} />
      )}
      {step.at === "token" && step.token && (
        <TokenStep
          token={step.token}
          onAsked={finish} // not copied yet, perhaps: it stays in the inbox
          onCopied={() => void app.eraseToken(step.token?.id ?? "").then(finish)}
        />
      )}
    </main>
  );
}

const STEPS = { code: 1, notifications: 2, name: 3, token: 3 } as const;

/** A link with a code is as good as a word of welcome; without one a person may not know yet what this is. */
function firstStep(unfinished: Unfinished | null): Step {
  if (givenCode() !== "") return { at: "code" };
  if (unfinished) return unfinished;
  return { at: location.pathname === addressOf("/enroll") ? "code" : "welcome" };
}

/** The code of the link that led here, empty where there is none. */
function givenCode(): string {
  return tidyCode(location.hash.startsWith("#/") ? "" : location.hash);
}

interface CodeStepProps {
  isPaired: boolean;
  onPaired: (token: NewToken | null) => Promise<void>;
  onCancel: () => void;
}

function CodeStep({ isPaired, onPaired, onCancel }: CodeStepProps) {
  const app = useApp();
  const [given] = useState(givenCode);
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
      await onPaired(await app.enrol(code, label.trim()));
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };

  return (
    <form class="form" onSubmit={submit}>
      <h1>{t("enrol.title")}</h1>
      <WhatThisIs />
      {isPaired && <p class="notice">{t("enrol.again")}</p>}
      {isIosOutsideHomeScreen() && <HomeScreenHint code={given} />}
      <label class="field">
        {t("enrol.code")}
        <input
          class="code"
          value={code}
          required
          autoCapitalize="characters"
          autoComplete="off"
          spellcheck={false}
          placeholder="XXXX-XXXX-XXXX-XXXX"
          pattern=".{19}"
          title={t("enrol.code.form")}
          onInput={(event) => setCode(tidyCode(event.currentTarget.value))}
        />
        <small>{rich<ComponentChildren>("enrol.code.hint", { code: (inner) => <code>{inner}</code> })}</small>
      </label>
      <label class="field">
        {t("name.phone")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <small>{t("enrol.name.hint")}</small>
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary big" aria-disabled={isBusy}>
        {t(isBusy ? "enrol.pairing" : "enrol.pair")}
      </button>
      {isPaired && (
        <button type="button" class="button big" onClick={onCancel}>
          {t("enrol.stay")}
        </button>
      )}
      <p class="fine">
        {rich<ComponentChildren>("enrol.other", { a: (inner) => <a href={addressOf("/pair")}>{inner}</a> })}
      </p>
      <p class="fine">{t("enrol.keys")}</p>
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
      <h1>{t("token.first")}</h1>
      <p>{rich<ComponentChildren>("token.first.hint", { b: (inner) => <strong>{inner}</strong> })}</p>
      <div class="secret">
        <code>{token.token}</code>
        <CopyButton text={token.token} label={t("token.copy")} />
      </div>
      <h2>{t("token.terminal")}</h2>
      <div class="secret">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>{command}</pre>
        <CopyButton text={command} label={t("token.copy_command")} />
      </div>
      <TestQuestion token={token.token} onAsked={onAsked} />
      <button type="button" class="button big" onClick={onCopied}>
        {t("token.copied")}
      </button>
    </section>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ForeignReplyError) return t("enrol.problem.foreign");
  if (error instanceof UnreachableError) return t("enrol.problem.unreachable");
  if (!(error instanceof RefusedError)) return t("enrol.problem.keys");
  if (error.code === "invalid_code") return t("enrol.problem.code");
  if (error.status === 429) return t("enrol.problem.many", { seconds: error.retryAfterSeconds || 60 });
  return error.message;
}
