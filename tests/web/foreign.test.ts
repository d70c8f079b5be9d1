/** A proxy, or a network's sign-in page, answers in the server's place: nothing is lost, erased or believed. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, enrol, launch, newPhone, type Page, Server, settle } from "./harness.ts";
import { type Reply, ReverseProxy } from "./proxy.ts";

const BANNER = /answers in its place/;
const REPLIES: readonly [string, Reply][] = [
  ["a 404", { status: 404 }],
  ["a 403", { status: 403 }],
  ["a 401", { status: 401 }],
  ["a sign-in page", { status: 200 }],
  ["JSON of its own", { status: 200, type: "application/json", body: '{"ok":true}' }],
  ["a redirect", { status: 302, location: "https://signin.example/" }],
];

let browser: Browser;
let server: Server;
let proxy: ReverseProxy;
let page: Page;
let token: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  proxy = await ReverseProxy.before(server.url);
  const phone = await newPhone(browser);
  page = phone.page;
  const link = (await server.newOwner()).replace(server.url, proxy.url);
  token = (await enrol(page, link, "Pixel")) as string;
  return async () => {
    await phone.context.close();
    await proxy.stop();
    expect(phone.problems).toEqual([]);
  };
});

test.each(REPLIES)(
  "a tap that a proxy answers with %s is kept and sent when the proxy is well again",
  async (_what, reply) => {
    const id = await server.ask(token, { question: "Deploy?" });
    await settle(page, "Deploy?");
    proxy.instead = reply;
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approve · kept, and sent later").waitFor();
    await page.getByText(BANNER).waitFor();
    proxy.instead = null;
    await page.getByText("Approve · sent").waitFor();
    expect(await server.outcome(token, id)).toMatchObject({ status: "answered", choice: "Approve" });
    await page.getByText(BANNER).waitFor({ state: "detached" });
  },
);

test.each(REPLIES)(
  "where the stream gets %s nothing is offered to be erased, and it recovers by itself",
  async (_what, reply) => {
    proxy.instead = reply;
    proxy.cut();
    await page.getByText(BANNER).waitFor();
    expect(await page.getByRole("button", { name: "Erase and pair again" }).count()).toBe(0);
    proxy.instead = null;
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.getByText(BANNER).count()).toBe(0);
  },
);

test("a setup code is not lost to a sign-in page: the same one pairs when the server is back", async () => {
  const other = await newPhone(browser);
  const link = (await server.newOwner()).replace(server.url, proxy.url);
  proxy.instead = { status: 200 };
  await other.page.goto(link);
  await other.page.getByRole("button", { name: "Pair", exact: true }).click();
  await other.page.getByText(/answers in its place.*The code is not used up/).waitFor();
  proxy.instead = null;
  await other.page.getByRole("button", { name: "Pair", exact: true }).click();
  await other.page.getByRole("button", { name: /Not now|Go on/ }).waitFor();
});

test("a revoked phone may ask the server again before it erases anything", async () => {
  const instead = { status: 401, type: "application/json", body: '{"error":"invalid_token"}' };
  proxy.instead = instead; // the server's own words: a backup from before this phone, for one
  proxy.cut();
  await page.getByRole("button", { name: "Erase and pair again" }).waitFor();
  proxy.instead = null;
  await page.getByRole("button", { name: "Ask the server again" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
});
