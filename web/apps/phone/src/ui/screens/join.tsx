/** On the new device: asks the phone to let it in, and checks what comes back. */

import { Cancelled, type DeviceClass, type Invited, invitedBy, PairingLieError } from "@reflecto/core";
import { useState } from "preact/hooks";
import { type Key, t } from "../../i18n/index.ts";
import { addressOf } from "../../platform/place.ts";
import { suggestedLabel } from "../../state/enrol.ts";
import { type Joining, joinProblemOf, startJoining, suggestedClass } from "../../state/join.ts";
import { Problem } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Mark } from "../icons.tsx";
import { HomeScreenHint, isIosOutsideHomeScreen, NotificationStep } from "./enrol-parts.tsx";
import { Digits, Lie } from "./pairing-parts.tsx";

type State =
  | { at: "form"; note?: string }
  | { at: "waiting" }
  | { at: "compare"; digits: string }
  | { at: "notifications" }
  | { at: "lie"; what: string };

export function Join({ onDone }: { onDone: () => void }) {
  const app = useApp();
  const [state, setState] = useState<State>({ at: "form" });
  const finish = () => {
    history.replaceState(null, "", addressOf("/"));
    onDone();
  };
  const fail = (error: unknown) => {
    if (error instanceof PairingLieError) setState({ at: "lie", what: error.message });
    else if (error instanceof Cancelled) setState({ at: "form", note: t("join.rejected") });
    else setState({ at: "form", note: joinProblemOf(error) });
  };
  const follow = async ({ pairing, keys }: Joining, isByCode: boolean) => {
    const { signal } = new AbortController();
    setState(isByCode ? { at: "compare", digits: await pairing.digits(signal) } : { at: "waiting" });
    await app.join({ ...(await pairing.admission(signal)), keys });
    if (app.notifications.push === "unasked") setState({ at: "notifications" });
    else finish();
  };
  const start = async (invited: Invited, label: string, deviceClass: DeviceClass) => {
    const joining = await startJoining(invited, label, deviceClass);
    history.replaceState(null, "", addressOf("/pair")); // the invitation is used: its secret need not stay in the history
    setState({ at: "waiting" });
    follow(joining, invited.phone === null).catch(fail);
  };
  return (
    <main class="welcome">
      <Mark />
      {state.at === "form" && <JoinForm note={state.note} onStart={start} onCancel={finish} />}
      {state.at === "waiting" && (
        <section class="form" role="status">
          <h1>{t("join.look")}</h1>
          <p>{t("join.look.hint")}</p>
        </section>
      )}
      {state.at === "compare" && (
        <section class="form" role="status">
          <h1>{t("join.compare")}</h1>
          <Digits digits={state.digits} />
          <p>{t("join.compare.hint")}</p>
        </section>
      )}
      {state.at === "notifications" && <NotificationStep onNext={finish} />}
      {state.at === "lie" && <Lie what={state.what} after={t("join.lie")} />}
    </main>
  );
}

interface JoinFormProps {
  note: string | undefined;
  onStart: (invited: Invited, label: string, deviceClass: DeviceClass) => Promise<void>;
  onCancel: () => void;
}

function JoinForm({ note, onStart, onCancel }: JoinFormProps) {
  const app = useApp();
  const [given] = useState(location.hash.startsWith("#/") ? "" : location.hash.slice(1));
  const [code, setCode] = useState("");
  const [label, setLabel] = useState(suggestedLabel(navigator.userAgent));
  const [deviceClass, setDeviceClass] = useState(suggestedClass(navigator.userAgent));
  const [problem, setProblem] = useState<string | null>(note ?? null);
  const [isBusy, setBusy] = useState(false);
  const isByLink = given !== "" && location.hash !== "";

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    try {
      await onStart(await invitedBy(isByLink ? given : code), label.trim(), deviceClass);
    } catch (error) {
      setProblem(joinProblemOf(error));
      setBusy(false);
    }
  };

  return (
    <form class="form" onSubmit={submit}>
      <h1>{t("join.title")}</h1>
      {app.session && <p class="notice">{t("enrol.again")}</p>}
      {isIosOutsideHomeScreen() && <HomeScreenHint code="" />}
      {!isByLink && (
        <label class="field">
          {t("join.code")}
          <input
            class="code"
            value={code}
            required
            autoCapitalize="characters"
            autoComplete="off"
            spellcheck={false}
            placeholder="XXXX-XXXX-XXXX-XXXX"
            onInput={(event) => setCode(event.currentTarget.value)}
          />
          <small>{t("join.code.hint")}</small>
        </label>
      )}
      <label class="field">
        {t("name.device")}
        <input
          value={label}
          required
          maxLength={60}
          dir="auto"
          onInput={(event) => setLabel(event.currentTarget.value)}
        />
        <small>{t("join.name.hint")}</small>
      </label>
      <fieldset class="uses">
        <legend>{t("join.use")}</legend>
        {CLASSES.map(([name, text]) => (
          <label key={name} class="check">
            <input type="radio" name="class" checked={deviceClass === name} onChange={() => setDeviceClass(name)} />
            {t(text)}
          </label>
        ))}
      </fieldset>
      {problem && <Problem text={problem} />}
      <button type="submit" class="button primary big" aria-disabled={isBusy}>
        {t(isBusy ? "join.asking" : "join.ask")}
      </button>
      {app.session && (
        <button type="button" class="button big" onClick={onCancel}>
          {t("enrol.stay")}
        </button>
      )}
      <p class="fine">{t("enrol.keys")}</p>
    </form>
  );
}

const CLASSES: readonly [DeviceClass, Key][] = [
  ["desktop", "join.use.desktop"],
  ["phone", "join.use.phone"],
];
