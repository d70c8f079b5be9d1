/** The server no longer knows this phone. */

import { WorkButton } from "../controls.tsx";
import { useApp } from "../hooks.ts";
import { Mark } from "../icons.tsx";

export function Revoked({ onDone }: { onDone: () => void }) {
  const app = useApp();
  return (
    <main class="welcome">
      <Mark />
      <h1>{app.isPhone ? "This phone was unpaired" : "This device was unpaired"}</h1>
      <p>The server no longer accepts it. Its keys and history are still here until you erase them.</p>
      <WorkButton
        kind="primary"
        work={async () => {
          await app.forget();
          onDone();
        }}
      >
        Erase and pair again
      </WorkButton>
      <button type="button" class="button" onClick={() => app.checkAgain()}>
        Ask the server again
      </button>
    </main>
  );
}
