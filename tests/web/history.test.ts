/** What is past: missed, found, opened and deleted. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Browser,
  type BrowserContext,
  deviceToken,
  enrol,
  launch,
  newPhone,
  type Page,
  Server,
} from "./harness.ts";

let browser: Browser;
let server: Server;
let context: BrowserContext;
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
  const phone = await newPhone(browser);
  ({ page, context } = phone);
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  return async () => {
    await context.close();
    expect(phone.problems).toEqual([]);
  };
});

const lines = () => page.locator(".past");
const search = () => page.getByRole("searchbox", { name: "Search" });
const openHistory = () => page.getByRole("link", { name: /^History/ }).click();

test("a question nobody answered is counted on the tab, stands first as missed, and is seen once it was on the screen", async () => {
  await page.clock.install();
  await server.ask(token, { question: "Migrate?", expires_in: 60 });
  await page.getByRole("heading", { name: "Migrate?" }).waitFor();
  await context.setOffline(true); // or the server's clock would put the page's right again
  await page.clock.fastForward(61_000);
  await page.getByRole("link", { name: /^History ?, 1 new$/ }).click();
  await page.getByRole("heading", { name: "Missed while you were away: 1" }).waitFor();
  expect(await lines().textContent()).toMatch(/Migrate\?No answer · waited 1 min/);
  await page.clock.fastForward(2_000);
  await page.getByRole("link", { name: "History", exact: true }).waitFor();
  await page.getByRole("heading", { name: "Missed while you were away: 1" }).waitFor(); // it keeps its place meanwhile
});

test("the history finds what was answered and what was said, by word, answer and kind", async () => {
  await server.call("POST", "/v1/send", token, { message: "The sauna is warm" });
  await server.ask(token, { question: "Open the window?" });
  await page.getByRole("button", { name: "Deny" }).click({ delay: 600 });
  await page.getByText("Deny · sent").waitFor();
  await openHistory();
  await expect.poll(() => lines().count()).toBe(2);
  await search().fill("SAUNA");
  await expect.poll(() => lines().allTextContents()).toEqual([expect.stringContaining("The sauna is warm")]);
  await search().fill("denied window");
  await expect.poll(() => lines().allTextContents()).toEqual([expect.stringContaining("Deny · here")]);
  await search().fill("");
  for (const [kind, count] of [
    ["Denied", 1],
    ["Approved", 0],
    ["Messages", 1],
  ] as const) {
    await page.getByRole("group", { name: "What became of it" }).getByRole("button", { name: kind }).click();
    await expect.poll(() => lines().count(), { message: kind }).toBe(count);
  }
});

test("how a question ended is said, with why: refused here, or its sender revoked", async () => {
  const ci = (await server.call("POST", "/v1/tokens", await deviceToken(page), { label: "CI" })).body;
  await server.ask(token, { question: "Open the door?" });
  await server.ask(ci.token, { question: "Open the gate?" });
  await page.waitForFunction(() => document.title === "(2) Reflecto");
  await server.call("DELETE", `/v1/tokens/${ci.id}`, await deviceToken(page));
  await page.goto(`${server.url}/#/settings/tokens`);
  await page.getByRole("button", { name: "Change Default" }).click();
  await page.getByRole("button", { name: "Refuse all its questions" }).click();
  await page.getByRole("button", { name: "Refuse them" }).click();
  await page.waitForFunction(() => document.title === "Reflecto"); // nobody told this phone what it did itself
  await openHistory();
  await lines().filter({ hasText: "Refused" }).filter({ hasText: "door" }).waitFor();
  await lines().filter({ hasText: "Ended · Its token was revoked" }).filter({ hasText: "gate" }).click();
  await page.getByText("Open the gate?").waitFor();
  await page.getByText("Its token was revoked").waitFor();
});

test("what came with a question, who its asker said it was and what was said with the answer stay with it", async () => {
  await server.ask(token, {
    question: "Run this command?",
    details: [{ kind: "code", label: "Bash", text: "git push --force" }],
    source: { app: "Claude Code", host: "laptop-17" },
    comment: "optional",
  });
  await page.getByRole("button", { name: "Deny and say why" }).click({ delay: 600 });
  await page.getByRole("textbox").fill("Not on a Friday");
  await page.getByRole("button", { name: "Deny", exact: true }).last().click({ delay: 600 });
  await openHistory();
  await search().fill("friday");
  await lines().filter({ hasText: "Run this command?" }).click();
  await page.getByText("Claude Code, laptop-17").waitFor();
  await page.getByText("Not on a Friday").waitFor();
  await page.getByText("Bash", { exact: true }).click();
  await page.getByText("git push --force").waitFor();
});

test("one thing is opened whole, and deleted alone", async () => {
  for (const message of ["one", "two"]) await server.call("POST", "/v1/send", token, { message });
  await openHistory();
  await lines().filter({ hasText: "one" }).click();
  await page.getByText("one", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete this" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await expect.poll(() => lines().count()).toBe(1);
  await page.reload();
  await expect.poll(() => lines().count()).toBe(1);
});
