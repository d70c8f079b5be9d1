import { expect, test } from "vitest";
import { SseParser, utf8 } from "../src/index.ts";

const STREAM = ':\n\nid: 7\nevent: message\ndata: {"é":"🚀"}\n\ndata:a\r\ndata: b\r\n\r\n';
const EVENTS = [
  { event: "message", data: '{"é":"🚀"}', id: "7" },
  { event: "message", data: "a\nb", id: "7" },
];

test("events come out the same wherever the stream is cut", () => {
  const bytes = utf8(STREAM);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const parser = new SseParser();
    expect([...parser.push(bytes.slice(0, cut)), ...parser.push(bytes.slice(cut))]).toEqual(EVENTS);
  }
});

test("events come out the same byte by byte", () => {
  const parser = new SseParser();
  expect(Array.from(utf8(STREAM)).flatMap((byte) => parser.push(Uint8Array.of(byte)))).toEqual(EVENTS);
});

test("comments and events without data are nothing", () => {
  expect(new SseParser().push(utf8(": beat\n\nevent: message\n\n"))).toEqual([]);
});
