import { expect, test } from "vitest";
import {
  BadBlobError,
  BadEnvelopeError,
  canonicalJson,
  fromBase64,
  keysFromSecrets,
  openBlob,
  readEnvelope,
  seal,
  toBase64,
  utf8,
  webLink,
} from "../src/index.ts";

const KEY = new Uint8Array(32).fill(5);

test("a blob with any byte changed is refused", () => {
  const blob = seal(KEY, utf8("hello"));
  for (let index = 0; index < blob.length; index += 1) {
    const changed = blob.slice();
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => openBlob(KEY, changed)).toThrow(BadBlobError);
  }
});

test("a blob cut short is refused, wherever it is cut", () => {
  const blob = seal(KEY, utf8("hello"));
  for (let length = 0; length < blob.length; length += 1) {
    expect(() => openBlob(KEY, blob.slice(0, length))).toThrow(BadBlobError);
  }
});

test("a public key of low order is refused", async () => {
  const keys = keysFromSecrets({ box: new Uint8Array(32).fill(1), signingSeed: new Uint8Array(32) });
  await expect(keys.sharedKey(new Uint8Array(32))).rejects.toThrow(RangeError);
});

test("canonical JSON sorts names by UTF-16 code units, as RFC 8785 3.2.3 shows", () => {
  const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
  const json = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
  expect(Object.keys(JSON.parse(json) as object)).toEqual([
    "1",
    "\r",
    "\u0080",
    "\u00f6",
    "\u20ac",
    "\u{1f600}",
    "\ufb33",
  ]);
});

test("canonical JSON refuses what has no single form", () => {
  expect(() => canonicalJson("\ud800")).toThrow(RangeError);
  expect(() => canonicalJson(0.5)).toThrow(RangeError);
});

test("base64 takes the URL alphabet without padding and gives back the standard one", () => {
  expect(toBase64(fromBase64("-_-_"))).toBe("+/+/");
  expect(toBase64(fromBase64("AQ"))).toBe("AQ==");
});

test("an envelope of an unknown type, or with a field missing, is refused", () => {
  expect(() => readEnvelope('{"type":"later","id":"x","ts":1,"payload":{}}')).toThrow(BadEnvelopeError);
  expect(() => readEnvelope('{"type":"toString","id":"x","ts":1,"payload":{}}')).toThrow(BadEnvelopeError);
  expect(() => readEnvelope('{"type":"notification","id":"x","ts":1,"payload":{}}')).toThrow(BadEnvelopeError);
  expect(() => readEnvelope("[]")).toThrow(BadEnvelopeError);
  expect(() => readEnvelope("[".repeat(200_000) + "]".repeat(200_000))).toThrow(BadEnvelopeError);
  for (const moment of ["1e300", "1e999", "NaN", "9".repeat(5_000), "8.65e12", "null", '"1"']) {
    const envelope = `{"type":"notification","id":"msg_1","ts":${moment},"payload":{"message":"hi"}}`;
    expect(() => readEnvelope(envelope)).toThrow(BadEnvelopeError);
  }
});

test("a bare notification is filled in with what the contract leaves out", () => {
  const { payload } = readEnvelope('{"type":"notification","id":"msg_1","ts":1,"payload":{"message":"hi"}}');
  expect(payload).toEqual({
    message: "hi",
    title: null,
    priority: "default",
    tags: [],
    url: null,
    url_title: null,
    actions: [],
    markdown: false,
    html: false,
    monospace: false,
    timestamp: null,
    image: null,
    sound: null,
    delete_at: null,
  });
});

test("only http and https links can be opened", () => {
  expect(webLink("https://example.org/a")).toBe("https://example.org/a");
  expect(webLink("javascript:alert(1)")).toBeNull();
  expect(webLink("data:text/html,x")).toBeNull();
  expect(webLink("/relative")).toBeNull();
});
