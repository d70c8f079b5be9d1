/** Rings and emergencies: over everything, ended here and everywhere. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Browser,
  type BrowserContext,
  enrol,
  launch,
  newPhone,
  type Page,
  type Reply,
  Server,
} from "./harness.ts";
import { ReverseProxy } from "./proxy.ts";

const GUARD = { delay: 600 }; // longer than the app takes no tap for

let browser: Browser;
let server: Server;
let proxy: ReverseProxy;
let page: Page;
let context: BrowserContext;
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
  ({ page, context } = phone);
  token = (await enrol(page, (await server.newOwner()).replace(server.url, proxy.url), "Pixel")) as string;
  return async () => {
    await Promise.all(browser.contexts().map((each) => each.close()));
    await proxy.stop();
    expect(phone.problems).toEqual([]);
  };
});

async function call(method: string, path: string, body?: object): Promise<Reply["body"]> {
  const { status, body: reply } = await server.call(method, path, token, body);
  expect(status, JSON.stringify(reply)).toBe(200);
  return reply;
}

async function raise(fields: object = {}): Promise<string> {
  const emergency = {
    token,
    user: "u",
    priority: 2,
    retry: 30,
    expire: 3600,
    title: "Disk of db-1 is full",
    ...fields,
  };
  const reply = await call("POST", "/1/messages.json", { message: "Writes fail since 12:03.", ...emergency });
  return reply.receipt;
}

const receipt = (id: string) => call("GET", `/1/receipts/${id}.json?token=${token}`);
const overlay = (on: Page = page) => on.getByRole("alertdialog", { name: "Emergency" });

test("an emergency is above every screen, with who, what and how often", async () => {
  await page.goto(`${proxy.url}/#/settings`);
  await raise();
  await overlay().getByRole("heading", { name: "Disk of db-1 is full" }).waitFor();
  await overlay().getByText("Writes fail since 12:03.").waitFor();
  await overlay()
    .getByText(/^Repeats every 30 s until \d\d:\d\d · 1st time$/)
    .waitFor();
  expect(await page.locator(".under").evaluate((screen: HTMLElement) => screen.inert)).toBe(true); // not within reach
});

test("acknowledged on one phone, it ends on all of them, and its sender hears by whom", async () => {
  const tablet = await newPhone(browser);
  await enrol(tablet.page, await server.invite(page), "Tablet");
  const id = await raise();
  await overlay(tablet.page).waitFor();
  await overlay().getByRole("button", { name: "Acknowledge" }).click(GUARD);
  await overlay().waitFor({ state: "detached" });
  await overlay(tablet.page).waitFor({ state: "detached" });
  await expect.poll(async () => (await receipt(id)).acknowledged).toBe(1);
  await tablet.page.getByRole("link", { name: /^Inbox/ }).click();
  await tablet.page.getByText("Acknowledged on Pixel").waitFor();
});

test("silenced here it goes on elsewhere, and can still be acknowledged from the inbox", async () => {
  const id = await raise();
  await overlay()
    .getByRole("button", { name: /^Silence here/ })
    .click(GUARD);
  await overlay().waitFor({ state: "detached" });
  expect((await receipt(id)).acknowledged).toBe(0);
  await page.reload();
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByText(/^Nobody has acknowledged it/).waitFor();
  expect(await overlay().count()).toBe(0);
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await expect.poll(async () => (await receipt(id)).acknowledged).toBe(1);
});

test("acknowledged without a connection it is quiet at once, and the others hear it when there is one", async () => {
  const id = await raise();
  await overlay().waitFor();
  proxy.instead = { status: 502 };
  await overlay().getByRole("button", { name: "Acknowledge" }).click(GUARD);
  await overlay().waitFor({ state: "detached" });
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByText("Acknowledged here, sent later").waitFor();
  proxy.instead = null;
  await expect.poll(async () => (await receipt(id)).acknowledged, { timeout: 20_000 }).toBe(1);
  await page.getByText("Acknowledged", { exact: true }).waitFor();
});

test("an emergency that its sender cancels is silent, and says so", async () => {
  const id = await raise();
  await overlay().waitFor();
  await call("POST", `/1/receipts/${id}/cancel.json`, { token });
  await overlay().waitFor({ state: "detached" });
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByText("Emergency cancelled by its sender").waitFor();
});

test("a tap in the first moment ends no emergency", async () => {
  await page.evaluate(() => {
    new MutationObserver(() => {
      for (const button of document.querySelectorAll<HTMLButtonElement>(".alarm button")) button.click();
    }).observe(document.body, { childList: true, subtree: true });
  });
  const id = await raise();
  await overlay().getByText("1st time").waitFor();
  expect((await receipt(id)).acknowledged).toBe(0);
});

test("a ring that is stopped on one device is silent on all of them", async () => {
  const tablet = await newPhone(browser);
  await enrol(tablet.page, await server.invite(page), "Tablet");
  await call("POST", "/v1/ring", { duration: 120 });
  const ring = (on: Page) => on.getByRole("alertdialog", { name: "Ringing" });
  await ring(tablet.page).waitFor();
  await ring(page).getByRole("button", { name: "Stop" }).click(GUARD);
  await ring(page).waitFor({ state: "detached" });
  await ring(tablet.page).waitFor({ state: "detached" });
});

test("Pushover's HTML shows its five tags and nothing else; a picture comes from the message alone", async () => {
  const asked: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  const message =
    'a <b>bold</b> <font color="red">red</font> <a href="https://bank.example/x">pay</a> <img src=https://evil.example/p> &amp; <a href="javascript:alert(1)">no</a>';
  await call("POST", "/1/messages.json", {
    token,
    user: "u",
    html: 1,
    message,
    attachment_base64: PIXEL,
    attachment_type: "image/png",
  });
  await page.getByRole("link", { name: /^Inbox/ }).click();
  const card = page.getByRole("article");
  await card.locator("strong", { hasText: "bold" }).waitFor();
  expect(await card.textContent()).toContain("<img src=https://evil.example/p> & no");
  const links = await card
    .getByRole("link")
    .evaluateAll((all) => all.map((a) => [a.textContent, a.getAttribute("href")]));
  expect(links).toEqual([["pay bank.example ↗", "https://bank.example/x"]]);
  await card.getByRole("img", { name: "Picture from Default" }).waitFor();
  expect(
    await card.getByRole("img").evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth)),
  ).toBe(1);
  expect(asked.filter((url) => url.includes("example"))).toEqual([]);
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
