import { expect, test } from "vitest";
import { DEPTH_MAX, parseRichText, plainOf, type RichNode } from "../src/index.ts";

const text = (value: string): RichNode => ({ kind: "text", text: value });

test("the five tags are read, in whatever case and nesting", () => {
  expect(parseRichText('a <B>b <i>c</i></B> <u>d</u><font color="#ff0000">e</font>')).toEqual([
    text("a "),
    { kind: "b", children: [text("b "), { kind: "i", children: [text("c")] }] },
    text(" "),
    { kind: "u", children: [text("d")] },
    { kind: "font", color: "#ff0000", children: [text("e")] },
  ]);
});

test.each([
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<b/onmouseover=alert(1)>",
  "<bold>x</bold>",
  "a < b > c",
  "<!-- <x> -->",
  "<style>p{}</style>",
])("what is no such tag is the text it is: %s", (html) => {
  expect(parseRichText(html)).toEqual([text(html)]);
});

test.each([
  ["https://example.org/a?b=1&amp;c=2", "https://example.org/a?b=1&c=2"],
  ["myapp://open/7", "myapp://open/7"],
  ["tel:+4930123", "tel:+4930123"],
  ["javascript:alert(1)", null],
  ["JaVaScRiPt:alert(1)", null],
  ["&#106;avascript:alert(1)", null],
  ["java\tscript:alert(1)", null],
  ["data:text/html,x", null],
  ["vbscript:x", null],
  ["file:///etc/passwd", null],
  ["blob:https://example.org/1", null],
  ["https://evil.example\\@bank.example/", null],
  ["//example.org", null],
  ["/relative", null],
])("a link to %s leads to %s", (href, url) => {
  expect(parseRichText(`<a href="${href}">x</a>`)).toEqual([{ kind: "a", url, children: [text("x")] }]);
});

test("attributes come in single quotes or none, and others are passed over", () => {
  const read = (html: string) => parseRichText(html)[0];
  expect(read("<a class=y href='https://a.example/'>x</a>")).toMatchObject({ url: "https://a.example/" });
  expect(read("<font size=7 color=red>x</font>")).toMatchObject({ color: "red" });
  expect(read('<font color="url(https://a.example)">x</font>')).toMatchObject({ color: null });
  expect(read('<b onclick="alert(1)">x</b>')).toEqual({ kind: "b", children: [text("x")] });
});

test("tags that are closed in another order, never, or were never opened do no harm", () => {
  expect(plainOf(parseRichText("<b>a<i>b</b>c</i>d</u><u>e"))).toBe("abcde");
  expect(parseRichText("</b>a")).toEqual([text("a")]);
});

test("entities are decoded once", () => {
  expect(plainOf(parseRichText("&lt;b&gt; &amp;lt; &#8364; &#x1F600; &quot;&apos;&nbsp;&bogus; &#0; &#9999999;"))).toBe(
    "<b> &lt; € 😀 \"'\u00a0&bogus; &#0; &#9999999;",
  );
});

test("what is nested beyond all reason stays shallow, and is whole", () => {
  const nodes = parseRichText(`${"<b>".repeat(3000)}x${"</b>".repeat(3000)}`);
  const depth = (list: RichNode[]): number =>
    Math.max(0, ...list.map((node) => (node.kind === "text" ? 0 : 1 + depth(node.children))));
  expect(depth(nodes)).toBe(DEPTH_MAX);
  expect(plainOf(nodes)).toBe("x");
});
