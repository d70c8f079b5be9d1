/** A ring: loud and over the whole screen, until it is stopped or its time is over. */

import type { NoteOf } from "@reflecto/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { Ringer } from "../../platform/sound.ts";
import { sourceName } from "../../worker/decide-words.ts";
import { useApp } from "../hooks.ts";
import { Icon } from "../icons.tsx";
import { Name, Visible } from "../text.tsx";

export function RingScreen({ ring }: { ring: NoteOf<"ring"> }) {
  const app = useApp();
  const stopButton = useRef<HTMLButtonElement>(null);
  const [isAudible, setAudible] = useState(true);
  const [ringer] = useState(() => new Ringer());
  useEffect(() => {
    stopButton.current?.focus();
    void ringer.start().then(setAudible);
    return () => ringer.stop();
  }, [ringer]);
  return (
    <div class="ring" role="alertdialog" aria-modal="true" aria-label="Ringing">
      <div class="ring-bell">
        <Icon name="bell" />
      </div>
      <h1>
        <Name text={sourceName(ring.source)} /> is ringing
      </h1>
      {ring.payload.message && (
        <p dir="auto">
          <Visible text={ring.payload.message} />
        </p>
      )}
      <button ref={stopButton} type="button" class="ring-stop" onClick={() => app.markRead([ring.key])}>
        Stop
      </button>
      <p class="ring-hint">{isAudible ? "\u00a0" : "This browser stays silent until the page is touched"}</p>
    </div>
  );
}
