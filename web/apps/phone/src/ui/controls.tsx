/** Small parts that several screens share. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { messageOf } from "./hooks.ts";
import { Icon, type IconName } from "./icons.tsx";

const COPIED_SHOWN_MS = 2000;

/** `text` is read only when it is pressed, so that a secret need not stand in the page. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_SHOWN_MS);
  };
  return (
    <>
      <button type="button" class="button small" onClick={copy}>
        <Icon name={isCopied ? "check" : "copy"} />
        {isCopied ? t("button.copied") : label}
      </button>
      <span class="visually-hidden" role="status">
        {isCopied ? t("button.copied") : ""}
      </span>
    </>
  );
}

/** A button whose work takes time: pressed once, busy until done, and it says what went wrong. */
export function WorkButton(props: {
  work: () => Promise<void>;
  children: ComponentChildren;
  kind?: "primary" | "danger" | "plain";
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const press = async () => {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await props.work();
    } catch (failure) {
      setError(messageOf(failure));
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class={`button ${props.kind ?? "plain"}`} aria-disabled={isBusy} onClick={press}>
        {props.children}
      </button>
      {error && <Problem text={error} />}
    </>
  );
}

/** What cannot be undone takes a second press, on another spot. */
export function ConfirmButton(props: { label: string; question: string; confirm: string; work: () => Promise<void> }) {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking) {
    return (
      <button type="button" class="button small quiet-danger" onClick={() => setAsking(true)}>
        {props.label}
      </button>
    );
  }
  return (
    <div class="confirm" role="alertdialog" aria-label={props.question}>
      <p>{props.question}</p>
      <div class="row">
        <button type="button" class="button" onClick={() => setAsking(false)}>
          {t("button.keep")}
        </button>
        <WorkButton kind="danger" work={props.work}>
          {props.confirm}
        </WorkButton>
      </div>
    </div>
  );
}

export function Problem({ text }: { text: string }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <div class="empty-icon">
        <Icon name={icon} />
      </div>
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
