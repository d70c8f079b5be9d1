/** What every browser client of Reflecto shares: no page, no worker, no storage of its own. */

export * from "./answers.ts";
export * from "./api.ts";
export * from "./backoff.ts";
export * from "./blob.ts";
export * from "./bytes.ts";
export * from "./canonical-json.ts";
export * from "./clock.ts";
export * from "./envelope.ts";
export * from "./intake.ts";
export * from "./items.ts";
export * from "./keyring.ts";
export * from "./keys.ts";
export * from "./lifecycle.ts";
export * from "./links.ts";
export * from "./memory-store.ts";
export * from "./pairing.ts";
export * from "./pairing-device.ts";
export * from "./pairing-phone.ts";
export * from "./patience.ts";
export * from "./peers.ts";
export * from "./receipt.ts";
export * from "./refusals.ts";
export * from "./sse.ts";
export * from "./store.ts";
export * from "./sync.ts";
export * from "./text.ts";
