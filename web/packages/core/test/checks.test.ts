import { expect, test } from "vitest";
import { type Check, isNumber, isString, objectOf, orAbsent } from "../src/check.ts";
import { isEnrollResponse, isOutcomeState, isPeerList, isTokenList } from "../src/wire/checks.ts";

const PEER = {
  device_id: "dev_1",
  label: "Phone",
  type: "web",
  class: "phone",
  reachable: true,
  last_seen_at: null,
  app_build: 1,
  public_key: "",
  signing_key: "",
};
const TOKEN = {
  id: "tok_1",
  label: "CI",
  test: false,
  priority_cap: null,
  scopes: ["ask"],
  created_at: 1,
  last_used_at: null,
  colour: "teal",
  muted_until: null,
};
const ENROLLED = {
  owner_id: "own_1",
  device_id: "dev_1",
  device_token: "rfd",
  server_key: "",
  default_token: { id: "tok_1", label: "CI", token: "rfk" },
};
const OUTCOME = { status: "open", expires_at: 1, greeting: null, admission: null };

/** What a reply looks like, and the part of it that is taken away or changed. */
const REPLIES: readonly [string, Check<unknown>, object, (reply: never) => object][] = [
  [
    "a device of a list",
    isPeerList,
    { devices: [PEER, PEER] },
    (reply: { devices: [object, object] }) => reply.devices[1],
  ],
  ["a token of a list", isTokenList, { tokens: [TOKEN] }, (reply: { tokens: [object] }) => reply.tokens[0]],
  ["who a device is", isEnrollResponse, ENROLLED, (reply) => reply],
  ["its first token", isEnrollResponse, ENROLLED, (reply: typeof ENROLLED) => reply.default_token],
  ["a pairing", isOutcomeState, OUTCOME, (reply) => reply],
];

test.each(REPLIES)("%s has every field in its kind", (_what, check, reply, partOf) => {
  expect(check(reply)).toBe(true);
  for (const name of Object.keys(partOf(reply as never))) {
    const missing = structuredClone(reply);
    delete (partOf(missing as never) as Record<string, unknown>)[name];
    expect(check(missing), `without ${name}`).toBe(false);
    const changed = structuredClone(reply);
    (partOf(changed as never) as Record<string, unknown>)[name] = { of: "another kind" };
    expect(check(changed), `another ${name}`).toBe(false);
  }
});

test("what a newer server adds is no fault: further fields, and values that are not known yet", () => {
  const device = { ...PEER, class: "watch", battery: 0.5 };
  expect(isPeerList({ devices: [device], next: null })).toBe(true);
});

test("a field that may be left out is checked where it is there", () => {
  const check = objectOf<{ id: string; count?: number }>({ id: isString, count: orAbsent(isNumber) });
  expect([{ id: "1" }, { id: "1", count: 2 }, { id: "1", count: "2" }].map(check)).toEqual([true, true, false]);
});
