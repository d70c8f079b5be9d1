/** The app speaks the browser's language or the one that was chosen, loads that one alone, and keeps it. */

import { mkdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, DESKTOP, enrol, launch, newPhone, type Page, PHONE, Server } from "./harness.ts";

/** Names a folder to keep pictures of each screen in. */
const PICTURES = process.env["REFLECTO_LANGUAGE_PICTURES"];
const SCREENS = ["questions", "inbox", "history", "settings", "settings/tokens", "settings/devices", "settings/pair"];

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

const documentOf = (page: Page) =>
  page.evaluate(() => [document.documentElement.lang, document.documentElement.dir] as const);

test("a browser that wants Arabic gets it, right to left, and no other language with it", async () => {
  const { page, context, problems } = await newPhone(browser, { locale: "ar-EG" });
  const loaded: string[] = [];
  page.on("request", (request) => {
    const file = /assets\/([\w-]+)-\w{8}\.json$/.exec(request.url());
    if (file) loaded.push(file[1] ?? "");
  });
  await page.goto(server.url);
  await page.getByRole("heading", { name: "برامجك تسأل. أنت تضغط." }).waitFor();
  expect(await documentOf(page)).toEqual(["ar", "rtl"]);
  expect(loaded).toEqual(["ar"]);
  expect(problems).toEqual([]);
  await context.close();
});

test("a language that is chosen is spoken at once, in every tab, after a restart and without a network", async () => {
  const { page, context } = await newPhone(browser);
  await enrol(page, await server.newOwner(), "Pixel");
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload(); // under the worker from its first request on
  const other = await context.newPage();
  await other.goto(`${server.url}/#/history`);
  await page.goto(`${server.url}/#/settings`);
  await page.getByLabel("Language").selectOption("de");
  await page.getByRole("heading", { name: "Einstellungen", level: 1 }).waitFor();
  await other.getByRole("heading", { name: "Verlauf", level: 1 }).waitFor();
  await context.setOffline(true);
  await page.reload();
  await page.getByRole("heading", { name: "Einstellungen", level: 1 }).waitFor();
  expect(await documentOf(page)).toEqual(["de", "ltr"]);
  await context.close();
});

test.each([
  ["ar", PHONE, "light"],
  ["ar", DESKTOP, "dark"],
  ["de", PHONE, "dark"],
  ["ja", PHONE, "light"],
] as const)("in %s every screen fits, at %o in %s, and at twice the size", async (locale, viewport, colorScheme) => {
  const { page, context } = await newPhone(browser, { viewport, colorScheme, permissions: ["notifications"] });
  const token = (await enrol(page, await server.newOwner(), "Pixel 9")) as string;
  await server.call("POST", "/v1/send", token, {
    message: "**2 of 214** tests failed",
    title: "Build 1482 is red",
    markdown: true,
  });
  await server.call("POST", "/v1/send", token, { message: "הגיבוי הסתיים", title: "גיבוי" });
  await page.goto(`${server.url}/#/settings`);
  await page.getByLabel("Language").selectOption(locale);
  await page.locator(`html[lang=${locale}]`).waitFor();
  const id = await server.ask(token, { question: "Deploy build 1481 to production?" });
  await page.locator(".arrived").waitFor();
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  for (const screen of SCREENS) {
    await page.goto(`${server.url}/#/${screen}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    if (PICTURES) {
      await mkdir(PICTURES, { recursive: true });
      await page.waitForFunction(() => document.querySelector(".group, .card, .empty, .question") !== null);
      const name = `${locale}-${viewport.width}-${colorScheme}-${screen.replace("/", "-")}`;
      await page.screenshot({ path: `${PICTURES}/${name}.png` });
    }
    expect(await overflow(), screen).toBeLessThanOrEqual(0);
    await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
    expect(await overflow(), `${screen} at 200 %`).toBeLessThanOrEqual(0);
    await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));
  }
  await server.call("DELETE", `/v1/interactions/${id}`, token);
  await context.close();
});
