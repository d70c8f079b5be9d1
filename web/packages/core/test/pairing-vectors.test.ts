import { expect, test } from "vitest";
import pairings from "../../../../tests/vectors/pairing.json" with { type: "json" };
import {
  type Approval,
  approvalMessage,
  approvalText,
  type Bytes,
  type Claim,
  checkApproval,
  checkClaim,
  checkCommitment,
  claimText,
  commit,
  type DeviceClass,
  type DeviceType,
  digitsOf,
  fragmentOf,
  invitedBy,
  keysFromSecrets,
  linkOf,
  newPairingCode,
  PairingLieError,
  proveApproval,
  proveClaim,
  publicKeysOf,
  secretOfCode,
  toBase64,
  toHex,
} from "../src/index.ts";

type Vector = (typeof pairings.vectors)[number];

test.each(pairings.codes)("code $typed leads to its invitation and its secret", async ({ typed, ...derived }) => {
  const { pairingId, secret } = await secretOfCode(typed);
  expect({ pairing_id: pairingId, secret: toHex(secret) }).toEqual(derived);
});

test.each(["", "AAAA-BBBB-CCCC-DDD", "AAAA-BBBB-CCCC-DDDDD", "AAAA-BBBB-CCCC-DDDU"])("%j is no code", async (typed) => {
  await expect(secretOfCode(typed)).rejects.toThrow(RangeError);
});

test("a new code is one, and another each time", async () => {
  const codes = Array.from({ length: 20 }, newPairingCode);
  expect(new Set(codes).size).toBe(20);
  for (const code of codes) {
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    await secretOfCode(code);
  }
});

test.each(pairings.vectors)("pairing vector $name: what the new device proves is the same bytes", async (vector) => {
  const { secret, claim, nonces } = ends(vector);
  expect(claimText(claim)).toBe(vector.claim_text);
  expect(toHex(await proveClaim(secret, claim))).toBe(vector.claim_proof);
  expect(toHex(await commit(nonces.device, claim))).toBe(vector.commitment);
  await checkClaim(secret, claim, base64(vector.claim_proof));
  await checkCommitment(base64(vector.commitment), nonces.device, claim);
});

test.each(pairings.vectors)("pairing vector $name: both screens show the same digits", async (vector) => {
  const { secret, claim, nonces, phone } = ends(vector);
  expect(await digitsOf(secret, claim, publicKeysOf(phone), nonces)).toBe(vector.digits);
});

test.each(pairings.vectors)(
  "pairing vector $name: the phone approves in the same bytes, and is believed",
  async (vector) => {
    const { secret, phone, joined } = ends(vector);
    const text = approvalText(JSON.parse(vector.approval_text) as Approval);
    expect(text).toBe(vector.approval_text);
    const [proof, signature] = [await proveApproval(secret, text), await phone.sign(approvalMessage(text))];
    expect(toHex(proof)).toBe(vector.approval_proof);
    expect(toHex(signature)).toBe(vector.approval_signature);
    const said = { approval: text, proof: toBase64(proof), signature: toBase64(signature) };
    const { devices } = await checkApproval(secret, said, joined);
    expect(devices.map(({ device_id }) => device_id)).toEqual([vector.phone_id, vector.device_id]);
  },
);

test.each(pairings.vectors.filter((vector) => vector.fragment !== undefined))(
  "pairing vector $name: the link holds the secret and the phone's keys",
  async (vector) => {
    const { secret, phone } = ends(vector);
    const link = { pairingId: vector.pairing_id, secret, phone: publicKeysOf(phone) };
    expect(fragmentOf(link)).toBe(vector.fragment);
    expect(linkOf(vector.fragment as string)).toEqual(link);
    expect(await invitedBy(`https://r.example/pair#${vector.fragment}`)).toEqual(link);
  },
);

test("a link that was cut, changed in its version or lengthened is none", () => {
  const fragment = pairings.vectors[0]?.fragment as string;
  for (const other of [fragment.slice(0, -1), `B${fragment.slice(1)}`, `${fragment}AA`, `${fragment.slice(0, -1)}!`]) {
    expect(() => linkOf(other), other).toThrow(RangeError);
  }
});

const CHANGES: [string, (said: Approval) => Approval][] = [
  ["another server key", (said) => ({ ...said, server_key: base64("00".repeat(32)) })],
  ["another owner", (said) => ({ ...said, owner_id: "own_other" })],
  ["another pairing", (said) => ({ ...said, pairing_id: "par_other" })],
  ["another approver", (said) => ({ ...said, approver_id: said.devices[1]?.device_id ?? "" })],
  ["this device left out", (said) => ({ ...said, devices: said.devices.slice(0, 1) })],
  ["a device listed twice", (said) => ({ ...said, devices: [...said.devices, ...said.devices.slice(0, 1)] })],
  ["the phone with other keys", (said) => swapped(said, 0)],
  ["this device with other keys", (said) => swapped(said, 1)],
];

test.each(CHANGES)("an approval with %s is not believed, though proved and signed", async (_what, change) => {
  const { secret, phone, joined } = ends(pairings.vectors[0] as Vector);
  const text = approvalText(change(JSON.parse(pairings.vectors[0]?.approval_text ?? "") as Approval));
  const proof = toBase64(await proveApproval(secret, text));
  const signature = toBase64(await phone.sign(approvalMessage(text)));
  await expect(checkApproval(secret, { approval: text, proof, signature }, joined)).rejects.toThrow(PairingLieError);
});

test.each(["", "null", "[]", "{}", '{"devices":[null]}', '{"devices":[{"device_id":1}]}'])(
  "an approval that reads %j is no device list",
  async (text) => {
    const { secret, phone, joined } = ends(pairings.vectors[0] as Vector);
    const proof = toBase64(await proveApproval(secret, text));
    const signature = toBase64(await phone.sign(approvalMessage(text)));
    await expect(checkApproval(secret, { approval: text, proof, signature }, joined)).rejects.toThrow("no device list");
  },
);

test.each(["proof", "signature"] as const)(
  "an approval with any bit of its %s changed is not believed",
  async (part) => {
    const vector = pairings.vectors[0] as Vector;
    const { secret, joined } = ends(vector);
    const { approval_text: approval, approval_proof: proof, approval_signature: signature } = vector;
    for (const wrong of [flipped({ proof, signature }[part]), "", "00"]) {
      const said = { approval, proof: base64(proof), signature: base64(signature), [part]: base64(wrong) };
      await expect(checkApproval(secret, said, joined)).rejects.toThrow(PairingLieError);
    }
  },
);

function ends(vector: Vector) {
  const phone = keysOf(vector.phone);
  const device = keysOf(vector.device);
  const claim: Claim = {
    ...publicKeysOf(device),
    class: vector.class as DeviceClass,
    label: vector.label,
    pairing_id: vector.pairing_id,
    type: vector.type as DeviceType,
  };
  const joined = {
    claim,
    deviceId: vector.device_id,
    ownerId: vector.owner_id,
    serverKey: base64(vector.server_key),
    phone: publicKeysOf(phone),
  };
  const nonces = { phone: bytes(vector.phone_nonce), device: bytes(vector.device_nonce) };
  return { phone, claim, joined, nonces, secret: bytes(vector.secret) };
}

function keysOf({ box_secret, signing_seed }: Vector["phone"]) {
  return keysFromSecrets({ box: bytes(box_secret), signingSeed: bytes(signing_seed) });
}

function swapped(said: Approval, index: number): Approval {
  const devices = said.devices.map((device, at) =>
    at === index ? { ...device, public_key: base64("07".repeat(32)) } : device,
  );
  return { ...said, devices };
}

function flipped(hex: string): string {
  return (hex.startsWith("0") ? "1" : "0") + hex.slice(1);
}

function bytes(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function base64(hex: string): string {
  return toBase64(bytes(hex));
}
