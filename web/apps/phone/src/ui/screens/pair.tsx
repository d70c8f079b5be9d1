/** On the phone: pairs a further device, with nothing taken on the server's word. */

import {
  Cancelled,
  type Candidate,
  countdown,
  PairingLieError,
  type PairingPhone,
  RefusedError,
  visibleText,
} from "@reflecto/core";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Key, rich, t } from "../../i18n/index.ts";
import { addressOf } from "../../platform/place.ts";
import { approvePairing, invitePairing } from "../../state/peers.ts";
import { CopyButton, Problem, WorkButton } from "../controls.tsx";
import { messageOf, useApp, useTick } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { QrCode } from "../qr-code.tsx";
import { Name } from "../text.tsx";
import { Digits, Lie } from "./pairing-parts.tsx";

type State =
  | { at: "start"; note?: string }
  | { at: "invited"; pairing: PairingPhone }
  | { at: "asked"; pairing: PairingPhone; candidate: Candidate }
  | { at: "joined"; label: string }
  | { at: "lie"; what: string };

export function Pair() {
  const app = useApp();
  const [state, setState] = useState<State>({ at: "start" });
  const open = useRef<{ pairing: PairingPhone; stop: AbortController } | null>(null);

  const withdraw = () => {
    open.current?.stop.abort();
    void open.current?.pairing.reject().catch(() => undefined);
    open.current = null;
  };
  useEffect(() => withdraw, []); // a person who leaves this screen has changed their mind

  const fail = (error: unknown) => {
    if (error instanceof Cancelled) return;
    open.current = null;
    if (error instanceof PairingLieError) setState({ at: "lie", what: error.message });
    else setState({ at: "start", note: problemOf(error) });
  };
  const invite = async () => {
    const pairing = await invitePairing(app.session);
    const stop = new AbortController();
    open.current = { pairing, stop };
    setState({ at: "invited", pairing });
    pairing.meet(stop.signal).then((candidate) => setState({ at: "asked", pairing, candidate }), fail);
  };
  const cancel = () => {
    withdraw();
    setState({ at: "start" });
  };
  const approve = async (pairing: PairingPhone, candidate: Candidate) => {
    try {
      await approvePairing(app.database, pairing, candidate);
      open.current = null;
      setState({ at: "joined", label: candidate.claim.label });
    } catch (error) {
      fail(error);
    }
  };

  switch (state.at) {
    case "invited":
      return <Invitation pairing={state.pairing} onCancel={cancel} />;
    case "asked":
      return (
        <Question
          candidate={state.candidate}
          onApprove={() => approve(state.pairing, state.candidate)}
          onReject={cancel}
        />
      );
    case "joined":
      return (
        <section class="group made" role="status">
          <p>
            {rich<ComponentChildren>("pair.done", {
              name: visibleText(state.label),
              b: (inner) => <strong>{inner}</strong>,
            })}
          </p>
          <WorkButton work={invite}>{t("pair.another")}</WorkButton>
        </section>
      );
    case "lie":
      return <Lie what={state.what} after={t("pair.lie")} />;
    default:
      return (
        <section class="group made">
          <p>{t("pair.what")}</p>
          {state.note && <Problem text={state.note} />}
          <WorkButton kind="primary" work={invite}>
            {t("pair.start")}
          </WorkButton>
        </section>
      );
  }
}

function Invitation({ pairing, onCancel }: { pairing: PairingPhone; onCancel: () => void }) {
  const app = useApp();
  const page = addressOf("/pair");
  const link = `${location.origin}${page}#${pairing.fragment}`;
  useTick(true);
  return (
    <section class="group made invite">
      <p>{t("invite.scan")}</p>
      <QrCode text={link} />
      <CopyButton text={link} label={t("button.copy_link")} />
      <p>
        {rich<ComponentChildren>("pair.no_camera", {
          address: `${location.host}${page}`,
          b: (inner) => <bdi>{inner}</bdi>,
        })}
      </p>
      <p class="code">{pairing.code}</p>
      <p class="time-left" role="timer">
        {t("time.left", { time: countdown(Math.max(0, pairing.expiresAt - app.now())) })}
      </p>
      <button type="button" class="button" onClick={onCancel}>
        {t("button.cancel")}
      </button>
    </section>
  );
}

function Question(props: { candidate: Candidate; onApprove: () => Promise<void>; onReject: () => void }) {
  const { claim, digits } = props.candidate;
  const isPhone = claim.class === "phone";
  return (
    <section class="group made" role="alertdialog" aria-label={t("pair.asks")}>
      <h2>{t("pair.yours")}</h2>
      <div class="group-row newcomer">
        <Icon name={isPhone ? "phone" : "desktop"} />
        <span class="grow">
          <strong>
            <Name text={claim.label} />
          </strong>
          <small>
            {t(TYPES[claim.type] ?? "pair.kind.unknown")} · {t(isPhone ? "pair.will_answer" : "pair.will_show")}
          </small>
        </span>
      </div>
      {digits && (
        <>
          <p>{t("pair.compare")}</p>
          <Digits digits={digits} />
        </>
      )}
      <div class="row">
        <button type="button" class="button" onClick={props.onReject}>
          {t(digits ? "pair.differ" : "pair.reject")}
        </button>
        <WorkButton kind="primary" work={props.onApprove}>
          {t(digits ? "pair.match" : "pair.let_in")}
        </WorkButton>
      </div>
    </section>
  );
}

const TYPES: Readonly<Record<string, Key>> = {
  web: "pair.kind.web",
  android: "pair.kind.android",
  extension: "pair.kind.extension",
  cli: "pair.kind.cli",
};

function problemOf(error: unknown): string {
  if (error instanceof RefusedError && error.status === 404) return t("pair.nobody");
  return messageOf(error);
}
