/** What is not as it should be is said where one looks, with the way out. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, enrol, launch, newPhone, type Page, Server } from "./harness.ts";
import { ReverseProxy } from "./proxy.ts";

let browser: Browser;
let server: Server;
let proxy: ReverseProxy;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  proxy = await ReverseProxy.before(server.url);
  return async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await proxy.stop();
  };
});

/** A phone whose browser answers as given when it is asked about notifications and storage. */
async function phoneWith(browserSays: { permission?: NotificationPermission; isPersisted?: boolean; keeps?: boolean }) {
  const { page, context } = await newPhone(browser);
  await context.addInitScript((says) => {
    Object.defineProperty(Notification, "permission", { get: () => says.permission ?? "granted" });
    navigator.storage.persisted = async () => says.isPersisted ?? true;
    navigator.storage.persist = async () => {
      Object.assign(globalThis, { wasAsked: true });
      return says.keeps ?? false;
    };
  }, browserSays);
  await enrol(page, (await server.newOwner()).replace(server.url, proxy.url), "Pixel");
  return page;
}

const banners = (page: Page) => page.locator(".banner");

test("blocked notifications are said over the questions, and the way out says how", async () => {
  const page = await phoneWith({ permission: "denied" });
  await banners(page).getByText("Notifications are blocked").waitFor();
  await banners(page).getByRole("link", { name: "Unblock" }).click();
  await page.getByText("How to unblock them").waitFor();
});

test("a lost server is said with since when, and a retry that tries at once", async () => {
  const page = await phoneWith({});
  proxy.instead = { status: 502 };
  proxy.cut();
  await banners(page)
    .getByText(/^(No connection since \d\d:\d\d|Your server is not heard)/)
    .waitFor();
  proxy.instead = null;
  await banners(page).getByRole("button", { name: "Try now" }).click();
  await banners(page).waitFor({ state: "detached" });
});

test("a newer app that took over under an open page is said, and starts with one tap", async () => {
  const page = await phoneWith({});
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload(); // under the worker from its first request on
  await page.getByText("Live", { exact: true }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.dispatchEvent(new Event("controllerchange")));
  await banners(page).getByText("A new version is ready").waitFor();
  await Promise.all([page.waitForEvent("load"), banners(page).getByRole("button", { name: "Restart" }).click()]);
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await banners(page).count()).toBe(0);
});

test("without a network the banner says since when", async () => {
  const page = await phoneWith({});
  await page.context().setOffline(true);
  await banners(page)
    .getByText(/^No connection since \d\d:\d\d/)
    .waitFor();
});

test("storage that may be cleared is asked for at enrolment; a browser that keeps it has no banner", async () => {
  const page = await phoneWith({ isPersisted: true });
  expect(await page.evaluate(() => "wasAsked" in globalThis)).toBe(true);
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByRole("heading", { name: "All quiet" }).waitFor();
  expect(await banners(page).count()).toBe(0);
});

test("storage that may be cleared is said, and a browser that refuses is not asked again for a while", async () => {
  const page = await phoneWith({ isPersisted: false });
  await page.goto(`${proxy.url}/#/inbox`);
  await page.reload();
  await banners(page).getByRole("button", { name: "Keep them" }).click();
  await banners(page).getByText("It refused.").waitFor();
  await banners(page).getByRole("button", { name: "All right" }).click();
  await banners(page).waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { name: "All quiet" }).waitFor();
  expect(await banners(page).count()).toBe(0);
});

test("of two only the worse one shows, and the other is a tap away", async () => {
  const page = await phoneWith({ permission: "denied", isPersisted: false });
  await page.goto(`${proxy.url}/#/inbox`);
  await page.reload();
  await banners(page).getByText("Notifications are blocked").waitFor();
  expect(await banners(page).count()).toBe(1);
  await page.getByRole("button", { name: "1 more" }).click();
  await banners(page).getByText("This browser may clear your keys").waitFor();
});
