/** The quickest proof that it works: ask oneself. */

import { addressOf } from "../../platform/place.ts";
import { WorkButton } from "../controls.tsx";

const TEST_QUESTION = { question: "Is this phone the one?", choices: ["Yes", "No"], expires_in: 300 };

export function TestQuestion({ token, onAsked }: { token: string; onAsked: () => void }) {
  const ask = async () => {
    const response = await fetch(addressOf("/v1/interactions"), {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(TEST_QUESTION),
    });
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    onAsked();
  };
  return (
    <WorkButton kind="primary" work={ask}>
      Ask myself a question
    </WorkButton>
  );
}
