/** The whole app under a path, `https://example.org/home/reflecto/`, behind a proxy that takes it away or keeps it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type Browser,
  type BrowserContext,
  deviceToken,
  enrol,
  launch,
  nameToken,
  newPhone,
  type Page,
  Server,
  settle,
} from "./harness.ts";
import { type Keeping, PATH, PathProxy } from "./path-proxy.ts";
import { WorkerDriver } from "./worker-driver.ts";

const DEPLOY = { question: "Deploy to production?" };
const KINDS: Keeping[] = ["strips the path", "keeps the path"];

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
});

describe.each(KINDS)("behind a proxy that %s", (keeping) => {
  let proxy: PathProxy;
  let server: Server;
  let context: BrowserContext;
  let page: Page;
  let problems: string[];
  let token: string;
  let driver: WorkerDriver;

  beforeAll(async () => {
    proxy = await PathProxy.open(keeping);
    server = await Server.start({ REFLECTO_PUBLIC_URL: `${proxy.url}/` });
    proxy.target = server.listening;
  });
  afterAll(async () => {
    await server.stop();
    await proxy.close();
  });
  beforeEach(async () => {
    proxy.rewrite = (_path, text) => text;
    ({ context, page, problems } = await newPhone(browser, { permissions: ["notifications"] }));
    driver = new WorkerDriver(context, page, proxy.url);
    token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
    return async () => {
      await context.close();
      // Browsers ask for this one by themselves, beside a page that is no HTML.
      expect(proxy.strays.splice(0).filter((path) => path !== "/favicon.ico")).toEqual([]);
    };
  });

  test("a phone is paired from the link, asked, and answers", async () => {
    expect(page.url()).toBe(`${proxy.url}/`);
    const id = await server.ask(token, DEPLOY);
    await settle(page, DEPLOY.question);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approve · sent").waitFor();
    expect(await server.outcome(token, id)).toMatchObject({ status: "answered", choice: "Approve" });
    expect(problems).toEqual([]);
  });

  test("the app starts without a network, and its worker keeps to the path", async () => {
    await server.ask(token, DEPLOY);
    await page.getByRole("heading", { name: DEPLOY.question }).waitFor();
    const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope);
    expect(scope).toBe(`${proxy.url}/`);
    await page.reload(); // from the worker's cache from here on
    await context.setOffline(true);
    await page.reload();
    await page.getByRole("heading", { name: DEPLOY.question }).waitFor();
    await context.setOffline(false);
  });

  test("a push is shown with the app's own icons, and a tap on it opens the question", async () => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.goto("about:blank");
    const id = await server.ask(token, DEPLOY);
    const { body } = await server.call("GET", "/v1/sync/entries?after=0", await deviceToken(driver.worker));
    const { seq, blob } = body.entries.at(-1);
    await driver.push(JSON.stringify({ seq, blob }));
    await driver.untilShown((all) => all.length === 1);
    const icons = await driver.worker.evaluate(async () => {
      const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration };
      const [shown] = (await registration.getNotifications()) as (Notification & { badge: string; icon: string })[];
      return [shown?.icon, shown?.badge];
    });
    expect(icons).toEqual([`${proxy.url}/icons/icon-192.png`, `${proxy.url}/icons/badge-96.png`]);
    await page.goto(`${proxy.url}/#/settings`);
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await driver.click(`interaction:${id}`, "");
    await page.waitForURL(`${proxy.url}/#/questions/${id}`);
    await page.getByRole("heading", { name: DEPLOY.question }).waitFor();
  });

  test("what is installed lies under the path, and at the root it is what it was", async () => {
    const session = await context.newCDPSession(page);
    const { manifest } = await session.send("Page.getAppManifest");
    expect(manifest).toMatchObject({ id: `${proxy.url}/`, startUrl: `${proxy.url}/`, scope: `${proxy.url}/` });
    await page.goto(`${server.listening}/`);
    const atRoot = await session.send("Page.getAppManifest");
    const root = `${server.listening}/`;
    expect(atRoot.manifest).toMatchObject({ id: root, startUrl: root, scope: root });
  });

  test("a further device pairs by the link and by the page that the phone names", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${proxy.url}/#/settings/pair`);
    await page.getByRole("button", { name: "Pair a device" }).click();
    await page.getByText(`${new URL(proxy.url).host}${PATH}/pair`).waitFor();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link.startsWith(`${proxy.url}/pair#`)).toBe(true);
    const laptop = await newPhone(browser);
    await laptop.page.goto(link);
    await laptop.page.getByLabel("Name of this device").fill("Laptop");
    await laptop.page.getByRole("button", { name: "Ask the phone" }).click();
    const newcomer = page.getByRole("alertdialog", { name: "A device asks to join" });
    await newcomer.getByRole("button", { name: "Let it in" }).click();
    await laptop.page.getByText("Live", { exact: true }).waitFor();
    expect(laptop.page.url()).toBe(`${proxy.url}/`);
    await laptop.context.close();
  });

  test("the invitation of the settings leads under the path, and the ready command too", async () => {
    expect(await server.invite(page)).toMatch(new RegExp(`^${proxy.url}/enroll#`));
    const second = await newPhone(browser);
    await second.page.goto(await server.newOwner());
    await second.page.getByRole("button", { name: "Pair", exact: true }).click();
    await nameToken(second.page);
    await second.page.getByRole("heading", { name: "Your first token" }).waitFor();
    expect(await second.page.locator(".secret pre").textContent()).toContain(`curl ${proxy.url}/v1/interactions`);
    await second.page.getByRole("button", { name: "Ask myself a question" }).click();
    await second.page.getByRole("heading", { name: "Is this phone the one?" }).waitFor();
    await second.context.close();
  });

  test("the reference has its style, and leads to the document with the server's path", async () => {
    await page.goto(`${proxy.url}/docs`);
    await page.getByRole("link", { name: "openapi.json" }).click();
    await page.waitForURL(`${proxy.url}/openapi.json`);
    expect((await (await fetch(`${proxy.url}/openapi.json`)).json()).servers[0].url).toBe(PATH);
  });

  test("a page that was open before an upgrade still loads what it has not loaded yet", async () => {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.reload(); // under the worker from its first request on
    await page.getByText("Live", { exact: true }).waitFor();
    let isTaken = false;
    proxy.rewrite = (path, text) => {
      // The new version's files have other names, but for the words, and the script that tells the worker that the page
      // is the app's.
      if (/^\/assets\/(?!index-[^/]+\.js$|[^/]+\.json$)/.test(path)) return null;
      if (path.startsWith("/assets/")) return text;
      isTaken = true;
      return text
        .replace(/[`"]?\/assets\/(?!index-[^`",]+\.js)[^`",]+\.(?:js|css)[`"]?,/g, "") // of a list, or of words in one
        .replace(/[0-9a-f]{16}(?=`)/g, "another-build");
    };
    const upgraded = page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      const taken = new Promise<void>((resolve) => {
        navigator.serviceWorker.addEventListener("controllerchange", () => resolve());
      });
      await registration.update();
      await taken;
    });
    await upgraded;
    expect(isTaken).toBe(true);
    await page.evaluate(() => {
      location.hash = "#/settings/pair";
    });
    await page.getByRole("button", { name: "Pair a device" }).click();
    await page.getByRole("img", { name: /QR code/ }).waitFor();
  });
});
