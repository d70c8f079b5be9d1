/** A dialog from below: Esc, the ground behind it and its button leave, and the focus goes back to where it was. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Panel(props: { title: string; isTitled?: boolean; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc is the browser's own way to close it
    <dialog
      ref={dialog}
      class="panel"
      aria-label={props.title}
      onClose={props.onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="panel-inside">
        {props.isTitled !== false && <h2>{props.title}</h2>}
        {props.children}
      </div>
    </dialog>
  );
}
