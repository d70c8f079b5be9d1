/** One who may ask or send: as it is known on every device, muted or not, and what can be changed of it. */

import { type TokenState, type UpdateTokenRequest, visibleText } from "@reflecto/core";
import { useState } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { untilWords } from "../../items/senders.ts";
import { isMuted } from "../../state/tokens.ts";
import { Avatar, COLOURS, type Colour, colourOf } from "../avatar.tsx";
import { ConfirmButton, Problem, WorkButton } from "../controls.tsx";
import { messageOf, useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { MuteChoices } from "../mute-choices.tsx";
import { Name, whenOf } from "../text.tsx";

interface TokenProps {
  token: TokenState;
  onChanged: () => Promise<void>;
}

export function TokenRow({ token, onChanged }: TokenProps) {
  const app = useApp();
  const [isOpen, setOpen] = useState(false);
  const isQuiet = isMuted(token.muted_until, app.now());
  const change = useChange({ token, onChanged });
  return (
    <li>
      <div class="group-row token">
        <Avatar name={visibleText(token.label)} colour={colourOf(token.label, token.colour)} isMuted={isQuiet} />
        <span class="grow">
          <strong>
            <Name text={token.label} />
          </strong>
          <small>{isQuiet ? <b class="late">{mutedWords(token, app.now())}</b> : <Use token={token} />}</small>
        </span>
        {isQuiet && <WorkButton work={() => change({ muted_until: null })}>{t("tokens.unmute")}</WorkButton>}
        <button
          type="button"
          class={isOpen ? "close open" : "close"}
          aria-expanded={isOpen}
          aria-label={t("tokens.change", { name: visibleText(token.label) })}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="next" />
        </button>
      </div>
      {isOpen && <Panel token={token} onChanged={onChanged} />}
    </li>
  );
}

function useChange({ token, onChanged }: TokenProps): (changes: UpdateTokenRequest) => Promise<void> {
  const app = useApp();
  return async (changes) => {
    await app.changeToken(token.id, changes);
    await onChanged();
  };
}

function mutedWords({ muted_until: until }: TokenState, now: number): string {
  if (typeof until !== "number") return t("tokens.muted");
  return t("tokens.muted_until", { time: untilWords(until, now) });
}

const SCOPE_COUNT = 5;

function Use({ token }: { token: TokenState }) {
  const app = useApp();
  const limits = [
    token.test ? t("tokens.test") : null,
    token.priority_cap ? t("tokens.cap", { priority: token.priority_cap }) : null,
    token.scopes.length < SCOPE_COUNT ? token.scopes.join(", ") : null,
  ].filter((limit) => limit !== null);
  return (
    <>
      {token.last_used_at === null ? t("tokens.unused") : whenOf("tokens.used", token.last_used_at, app.now())}
      {limits.length > 0 && ` · ${limits.join(" · ")}`}
    </>
  );
}

function Panel({ token, onChanged }: TokenProps) {
  const app = useApp();
  const change = useChange({ token, onChanged });
  const name = visibleText(token.label);
  return (
    <div class="token-panel">
      <RenameForm token={token} onChanged={onChanged} />
      <ColourChoice token={token} onChanged={onChanged} />
      <MuteChoices onMute={(until) => change({ muted_until: until })} />
      <div class="row">
        <ConfirmButton
          label={t("tokens.refuse")}
          question={t("tokens.refuse.question", { name })}
          confirm={t("tokens.refuse.confirm")}
          work={async () => {
            await app.session?.answers.refuseAll(token.id);
          }}
        />
        <ConfirmButton
          label={t("tokens.revoke")}
          question={t("tokens.revoke.question", { name })}
          confirm={t("tokens.revoke.confirm")}
          work={async () => {
            await app.session?.api.revokeToken(token.id);
            await onChanged();
          }}
        />
      </div>
    </div>
  );
}

function RenameForm({ token, onChanged }: TokenProps) {
  const change = useChange({ token, onChanged });
  const [label, setLabel] = useState(token.label);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    await change({ label: label.trim() }).catch((error) => setProblem(messageOf(error)));
  };
  return (
    <form class="form" onSubmit={submit}>
      <label class="field">
        {t("tokens.name")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <small>{t("tokens.name.hint")}</small>
      </label>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button" aria-disabled={label.trim() === token.label}>
        {t("button.rename")}
      </button>
    </form>
  );
}

const COLOUR_WORDS: Readonly<Record<Colour, Key>> = {
  teal: "colour.teal",
  violet: "colour.violet",
  amber: "colour.amber",
  blue: "colour.blue",
  rose: "colour.rose",
  olive: "colour.olive",
  slate: "colour.slate",
  brick: "colour.brick",
};

function ColourChoice({ token, onChanged }: TokenProps) {
  const change = useChange({ token, onChanged });
  const [problem, setProblem] = useState<string | null>(null);
  const choose = async (colour: Colour) => {
    setProblem(null);
    await change({ colour }).catch((error) => setProblem(messageOf(error)));
  };
  return (
    <fieldset class="colours">
      <legend>{t("tokens.colour")}</legend>
      {COLOURS.map((colour) => (
        <label key={colour} class="colour">
          <input
            type="radio"
            class="visually-hidden"
            name={`colour-${token.id}`}
            checked={token.colour === colour}
            onChange={() => choose(colour)}
          />
          <Avatar name={visibleText(token.label)} colour={colour} />
          <span class="visually-hidden">{t(COLOUR_WORDS[colour])}</span>
        </label>
      ))}
      {problem && <Problem text={problem} />}
    </fieldset>
  );
}
