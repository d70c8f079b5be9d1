import { expect, test, vi } from "vitest";
import { apiAt } from "../src/server.ts";

test.each([
  ["https://home.example", "https://home.example/v1/push/key"],
  ["https://home.example/", "https://home.example/v1/push/key"],
  ["https://home.example/reflecto", "https://home.example/reflecto/v1/push/key"],
  ["https://home.example/reflecto/", "https://home.example/reflecto/v1/push/key"],
])("the API of the server at %s is called there, with the token it was made for", async (address, called) => {
  const calls: [string, string | null][] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    calls.push([url, new Headers(init.headers).get("Authorization")]);
    return Response.json({ public_key: "BA" });
  });
  const apiFor = apiAt(address);
  await apiFor(null).pushKey();
  await apiFor("rfd_live_1").pushKey();
  expect(calls).toEqual([
    [called, null],
    [called, "Bearer rfd_live_1"],
  ]);
});
