import { beforeEach, expect, test } from "vitest";
import {
  Api,
  Cancelled,
  type ClaimState,
  checkedKeyOf,
  invitedBy,
  Keyring,
  keysFromSecrets,
  type OutcomeState,
  PairingDevice,
  PairingLieError,
  PairingPhone,
  type PairingState,
  type PeerState,
  type Peers,
  peersOf,
  publicKeysOf,
  type SelfDescription,
  toBase64,
  withChecked,
  withSeen,
} from "../src/index.ts";
import { FakeClock } from "./fake-clock.ts";
import { CLAIMED_ID, FakePairings } from "./fake-pairings.ts";

const keysOf = (seed: number) =>
  keysFromSecrets({ box: new Uint8Array(32).fill(seed), signingSeed: new Uint8Array(32).fill(seed + 1) });
const PHONE = keysOf(1);
const LAPTOP = keysOf(3);
const SERVER = publicKeysOf(keysOf(5));
const ATTACKER = publicKeysOf(keysOf(7));
const TABLET = publicKeysOf(keysOf(9));
const SELF: SelfDescription = { label: "Firefox on laptop", type: "web", class: "desktop", appBuild: 1, features: [] };
const SERVER_KEY = SERVER.public_key;
const never = () => new AbortController().signal;

let server: FakePairings;
let phone: PairingPhone;

beforeEach(async () => {
  server = new FakePairings(publicKeysOf(PHONE), SERVER_KEY);
  server.devices = [stateOf("dev_phone", publicKeysOf(PHONE)), stateOf("dev_tablet", TABLET)];
  const device = {
    ownerId: "own_1",
    deviceId: "dev_phone",
    deviceToken: "phone",
    label: "Pixel",
    serverKey: SERVER_KEY,
  };
  phone = await PairingPhone.invite({ api: apiFor("phone"), keys: PHONE, device, clock: new FakeClock() });
});

const apiFor = (token: string | null) => new Api("", token, server.fetch);

async function claim(by: "link" | "code"): Promise<PairingDevice> {
  const invited = await invitedBy(by === "link" ? `https://r.example/pair#${phone.fragment}` : phone.code);
  return PairingDevice.claim({ apiFor, keys: LAPTOP, clock: new FakeClock() }, invited, SELF);
}

function stateOf(id: string, keys: { public_key: string; signing_key: string }): PeerState {
  const rest = { type: "web", class: "phone", reachable: true, last_seen_at: null, app_build: 1 } as const;
  return { ...keys, ...rest, device_id: id, label: id };
}

test("by link: the phone sees who comes, approves, and the device knows owner, server and every other device", async () => {
  const device = await claim("link");
  const candidate = await phone.meet(never());
  expect(candidate).toMatchObject({ deviceId: CLAIMED_ID, digits: null });
  expect(candidate.claim).toMatchObject({ label: "Firefox on laptop", type: "web", class: "desktop" });
  await phone.approve(candidate, {});
  const admitted = await device.admission(never());
  expect(admitted.device).toEqual({
    ownerId: "own_1",
    deviceId: CLAIMED_ID,
    deviceToken: "new",
    serverKey: SERVER_KEY,
    label: "Firefox on laptop",
    deviceClass: "desktop",
  });
  const peers = peersOf(admitted.approval);
  expect(Object.keys(peers)).toEqual(["dev_phone", "dev_tablet", CLAIMED_ID]);
  expect(checkedKeyOf(peers, "dev_tablet")).toBe(TABLET.public_key);
});

test("by code: both screens show the same digits, and the device is admitted after them", async () => {
  const device = await claim("code");
  const [candidate, digits] = await Promise.all([phone.meet(never()), device.digits(never())]);
  expect(digits).toMatch(/^\d{6}$/);
  expect(candidate.digits).toBe(digits);
  await phone.approve(candidate, {});
  expect((await device.admission(never())).device.deviceId).toBe(CLAIMED_ID);
});

test("the server is told neither secret: not the code, not the fragment", async () => {
  const told: string[] = [];
  const listen = server.fetch;
  server.fetch = (url, init) => {
    told.push(url, String(init?.body));
    return listen(url, init);
  };
  const device = await claim("code");
  const [candidate] = await Promise.all([phone.meet(never()), device.digits(never())]);
  await phone.approve(candidate, {});
  const all = told.join("\n");
  expect(all).toContain("commitment");
  expect(all).not.toContain(phone.code);
  expect(all).not.toContain(phone.fragment.slice(24, 60));
});

test("a rejected device is told so, and nothing else", async () => {
  const device = await claim("link");
  await phone.meet(never());
  const admission = device.admission(never());
  await phone.reject();
  await expect(admission).rejects.toThrow(Cancelled);
});

test("waiting ends when it is called off", async () => {
  const stop = new AbortController();
  const meeting = phone.meet(stop.signal);
  stop.abort();
  await expect(meeting).rejects.toThrow(Cancelled);
});

// What a lying server may try. Each lie is caught by one of the two ends, and named.

const CLAIM_LIES: [string, Partial<ClaimState>][] = [
  ["swaps the new device's encryption key", { public_key: ATTACKER.public_key }],
  ["swaps its signing key", { signing_key: ATTACKER.signing_key }],
  ["makes a phone of a desktop", { class: "phone" }],
  ["changes its name", { label: "Tablet" }],
  ["changes its name into something without a canonical form", { label: "\ud800" }],
  ["says it came by code", { commitment: toBase64(new Uint8Array(32)) }],
  ["drops the proof", { proof: "" }],
];

test.each(CLAIM_LIES)("a server that %s is caught by the phone, which withdraws", async (_lie, change) => {
  server.lies["GET one"] = (state: PairingState) => ({ ...state, claim: state.claim && { ...state.claim, ...change } });
  await claim("link");
  await expect(phone.meet(never())).rejects.toThrow(PairingLieError);
  expect(server.status).toBe("rejected");
});

test("a server that lists this phone with other keys is caught before anything is signed", async () => {
  await claim("link");
  const candidate = await phone.meet(never());
  server.devices = [stateOf("dev_phone", { ...publicKeysOf(PHONE), public_key: ATTACKER.public_key })];
  await expect(phone.approve(candidate, {})).rejects.toThrow("this phone");
  expect(server.calls).not.toContain("POST approve");
  expect(server.status).toBe("rejected");
});

test("a server that swaps the keys of a device this phone has seen is caught before anything is signed", async () => {
  const peers = withSeen({}, server.devices);
  await claim("link");
  const candidate = await phone.meet(never());
  server.devices = [stateOf("dev_phone", publicKeysOf(PHONE)), stateOf("dev_tablet", ATTACKER)];
  await expect(phone.approve(candidate, peers)).rejects.toThrow("dev_tablet");
  expect(server.calls).not.toContain("POST approve");
});

const OUTCOME_LIES: [string, (admission: NonNullable<OutcomeState["admission"]>) => unknown][] = [
  ["seals with a key of its own", (admission) => ({ ...admission, server_key: ATTACKER.public_key })],
  ["names another owner", (admission) => ({ ...admission, owner_id: "own_2" })],
  ["gives it another's id", (admission) => ({ ...admission, device_id: "dev_phone" })],
  [
    "swaps a key in the list",
    (admission) => ({ ...admission, approval: admission.approval.replace(TABLET.public_key, ATTACKER.public_key) }),
  ],
  ["makes up a signature", (admission) => ({ ...admission, signature: toBase64(new Uint8Array(64)) })],
  ["makes up a proof", (admission) => ({ ...admission, proof: toBase64(new Uint8Array(32)) })],
  ["shows no approval", () => null],
];

test.each(OUTCOME_LIES)("a server that %s is caught by the new device", async (_lie, change) => {
  server.lies["GET outcome"] = (outcome: OutcomeState) => ({
    ...outcome,
    admission: outcome.admission && change(outcome.admission),
  });
  const device = await claim("link");
  await phone.approve(await phone.meet(never()), {});
  await expect(device.admission(never())).rejects.toThrow(PairingLieError);
});

test("a server that heard the code and greets with its own keys shows other digits, on one of the screens", async () => {
  server.lies["GET outcome"] = (outcome: OutcomeState) => ({
    ...outcome,
    greeting: outcome.greeting && { ...outcome.greeting, ...ATTACKER },
  });
  const device = await claim("code");
  const [candidate, digits] = await Promise.all([phone.meet(never()), device.digits(never())]);
  expect(candidate.digits).not.toBe(digits);
});

test("and if the person does not look, the signature still is not that of the one who greeted", async () => {
  server.lies["GET outcome"] = (outcome: OutcomeState) => ({
    ...outcome,
    greeting: outcome.greeting && { ...outcome.greeting, ...ATTACKER },
  });
  const device = await claim("code");
  const [candidate] = await Promise.all([phone.meet(never()), device.digits(never())]);
  await phone.approve(candidate, {});
  await expect(device.admission(never())).rejects.toThrow("not signed by the phone");
});

test("a nonce other than the one that was committed to is caught by the phone", async () => {
  server.lies["GET one"] = (state: PairingState) => ({
    ...state,
    claim: state.claim && { ...state.claim, nonce: state.claim.nonce && toBase64(new Uint8Array(32)) },
  });
  const device = await claim("code");
  const caught = expect(phone.meet(never())).rejects.toThrow(PairingLieError);
  await device.digits(never());
  await caught;
  expect(server.status).toBe("rejected");
});

// What is known of the others' keys.

test("keys that were seen first stay, so that others later are noticed", () => {
  const peers = withSeen(withSeen({}, [stateOf("dev_tablet", TABLET)]), [stateOf("dev_tablet", ATTACKER)]);
  expect(peers).toEqual({ dev_tablet: { ...TABLET, isChecked: false } });
});

test("what a paired device sends opens; the server's word for a key opens nothing", async () => {
  const seen: Peers = withSeen({}, [stateOf("dev_laptop", publicKeysOf(LAPTOP))]);
  const checked = withChecked(seen, "dev_laptop", publicKeysOf(LAPTOP));
  const ringOf = (peers: Peers) => new Keyring(PHONE, SERVER_KEY, async (id) => checkedKeyOf(peers, id));
  expect(await ringOf(seen).keyFor("dev_laptop")).toBeNull();
  expect(await ringOf(checked).keyFor("dev_laptop")).toEqual(await LAPTOP.sharedKey(PHONE.publicKey));
  expect(await ringOf(checked).keyFor("toString")).toBeNull();
});
