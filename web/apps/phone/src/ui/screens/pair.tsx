/** On the phone: pairs a further device, with nothing taken on the server's word. */

import { Cancelled, type Candidate, countdown, PairingLieError, type PairingPhone, RefusedError } from "@reflecto/core";
import { useEffect, useRef, useState } from "preact/hooks";
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
            <strong>
              <Name text={state.label} />
            </strong>{" "}
            is paired. Each of your devices checked the other’s keys.
          </p>
          <WorkButton work={invite}>Pair another</WorkButton>
        </section>
      );
    case "lie":
      return <Lie what={state.what} after="Nothing was approved, and the invitation was withdrawn." />;
    default:
      return (
        <section class="group made">
          <p>
            A computer, a tablet or a second phone. The two devices check each other’s keys, so that not even the server
            could slip in between.
          </p>
          {state.note && <Problem text={state.note} />}
          <WorkButton kind="primary" work={invite}>
            Pair a device
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
      <p>Scan this with the new device’s camera, or open the link there.</p>
      <QrCode text={link} />
      <CopyButton text={link} label="Copy link" />
      <p>
        No camera? Open{" "}
        <bdi>
          {location.host}
          {page}
        </bdi>{" "}
        there and type
      </p>
      <p class="code">{pairing.code}</p>
      <p class="time-left" role="timer">
        {countdown(Math.max(0, pairing.expiresAt - app.now()))} left
      </p>
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    </section>
  );
}

function Question(props: { candidate: Candidate; onApprove: () => Promise<void>; onReject: () => void }) {
  const { claim, digits } = props.candidate;
  const isPhone = claim.class === "phone";
  return (
    <section class="group made" role="alertdialog" aria-label="A device asks to join">
      <h2>Is this yours?</h2>
      <div class="group-row newcomer">
        <Icon name={isPhone ? "phone" : "desktop"} />
        <span class="grow">
          <strong>
            <Name text={claim.label} />
          </strong>
          <small>
            {TYPES[claim.type] ?? "Unknown kind"} ·{" "}
            {isPhone ? "will answer your questions" : "will be shown notifications"}
          </small>
        </span>
      </div>
      {digits && (
        <>
          <p>Let it in only if its screen shows the same six digits:</p>
          <Digits digits={digits} />
        </>
      )}
      <div class="row">
        <button type="button" class="button" onClick={props.onReject}>
          {digits ? "They differ, reject" : "Reject"}
        </button>
        <WorkButton kind="primary" work={props.onApprove}>
          {digits ? "They match, let it in" : "Let it in"}
        </WorkButton>
      </div>
    </section>
  );
}

const TYPES: Readonly<Record<string, string>> = {
  web: "Browser",
  android: "Android app",
  extension: "Browser extension",
  cli: "Terminal",
};

function problemOf(error: unknown): string {
  if (error instanceof RefusedError && error.status === 404) return "Nobody came within ten minutes.";
  return messageOf(error);
}
