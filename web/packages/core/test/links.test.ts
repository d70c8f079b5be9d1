import { expect, test } from "vitest";
import links from "../../../../tests/vectors/links.json" with { type: "json" };
import { anyLink, readLink, webLink } from "../src/links.ts";

test.each(links.vectors)("link vector $url leads to $target", ({ url, scheme, target }) => {
  expect(readLink(url)).toEqual(scheme === null ? null : { scheme, target });
  expect(anyLink(url)).toBe(scheme === null ? null : url);
  expect(webLink(url)).toBe(scheme === "http" || scheme === "https" ? url : null);
});

test("half a pair of surrogates is no link", () => {
  for (const url of ["https://bank.example/\ud800", "https://\udc00.example/"]) expect(readLink(url)).toBeNull();
});

test("what is no text is no link", () => {
  for (const value of [null, undefined, 1, {}, ["https://bank.example/"]]) {
    expect([webLink(value), anyLink(value)]).toEqual([null, null]);
  }
});
