/** A question comes while something else is looked at: seen, heard and counted there. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, type BrowserContext, enrol, launch, newPhone, type Page, Server } from "./harness.ts";

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
  await context.addInitScript(() => {
    const sounds = { count: 0 };
    Object.assign(globalThis, { sounds });
    const make = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function createOscillator() {
      sounds.count += 1;
      return make.call(this);
    };
  });
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  return async () => {
    await context.close();
    expect(phone.problems).toEqual([]);
  };
});

const sounds = (of: Page) => of.evaluate(() => (globalThis as unknown as { sounds: { count: number } }).sounds.count);
const banner = (of: Page) => of.locator(".arrived");

test.each(["inbox", "history", "settings", "settings/tokens"])(
  "a question that comes while %s is on the screen shows there, is heard, and is a tap away",
  async (screen) => {
    await page.goto(`${server.url}/#/${screen}`);
    const id = await server.ask(token, { question: "Deploy build 7?" });
    await banner(page).getByText("Default asks").waitFor();
    await banner(page).getByText("Deploy build 7?").waitFor();
    expect(await page.title()).toBe("(1) Reflecto");
    expect(await sounds(page)).toBeGreaterThan(0);
    await banner(page).getByRole("link", { name: "Look" }).click();
    await page.waitForURL(`${server.url}/#/questions/${id}`);
    await page.getByRole("heading", { name: "Deploy build 7?" }).waitFor();
    expect(await banner(page).count()).toBe(0);
  },
);

test("of two tabs of the browser both show it, and one sounds", async () => {
  const other = await context.newPage();
  await other.goto(`${server.url}/#/settings`);
  await page.goto(`${server.url}/#/inbox`);
  await Promise.all([page, other].map((each) => each.getByText("Live", { exact: true }).waitFor()));
  await server.ask(token, { question: "Deploy build 7?" });
  await Promise.all([page, other].map((each) => banner(each).getByText("Deploy build 7?").waitFor()));
  expect(await Promise.all([page.title(), other.title()])).toEqual(["(1) Reflecto", "(1) Reflecto"]);
  const heard = await Promise.all([sounds(page), sounds(other)]);
  expect(heard.filter((count) => count > 0)).toHaveLength(1);
});

test("a banner that was put away stays away, and the next question shows again", async () => {
  await page.goto(`${server.url}/#/inbox`);
  await server.ask(token, { question: "First?" });
  await banner(page).getByRole("button", { name: "Not now" }).click();
  await banner(page).waitFor({ state: "detached" });
  await server.ask(token, { question: "Second?" });
  await banner(page).getByText("Second?").waitFor();
  expect(await page.title()).toBe("(2) Reflecto");
});

test("a question that was there before the screen is no arrival, and one that ends takes its banner along", async () => {
  const id = await server.ask(token, { question: "First?" });
  await page.getByRole("heading", { name: "First?" }).waitFor();
  await page.getByRole("link", { name: /^Inbox/ }).click();
  expect(await banner(page).count()).toBe(0);
  const second = await server.ask(token, { question: "Second?" });
  await banner(page).getByText("Second?").waitFor();
  for (const each of [id, second]) await server.call("DELETE", `/v1/interactions/${each}`, token);
  await banner(page).waitFor({ state: "detached" });
  expect(await page.title()).toBe("Reflecto");
});

test("a count of two digits is as round as one of one", async () => {
  for (let number = 0; number < 10; number += 1) {
    await server.call("POST", "/v1/send", token, { message: `Note ${number}` });
  }
  await page.getByRole("link", { name: /^Inbox ?, 10 new$/ }).waitFor();
  const { width, height } = (await page.locator(".count").boundingBox()) as { width: number; height: number };
  expect(Math.abs(width - height)).toBeLessThan(0.5);
  const inner = await page.locator(".count").evaluate((element) => element.scrollWidth - element.clientWidth);
  expect(inner).toBe(0);
});
