import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, type BrowserContext, enrol, launch, newPhone, type Page, Server } from "./harness.ts";
import { FAKE_PUSH_MANAGER } from "./push-manager.ts";

const ENDPOINT = "https://push.example/first";
const KEYS = {
  p256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
  auth: "tBHItJI5svbpez7KI4CCXg",
};

let browser: Browser;
let server: Server;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  ({ context, page } = await newPhone(browser, { permissions: ["notifications"] }));
  await context.addInitScript(FAKE_PUSH_MANAGER, { endpoint: ENDPOINT, keys: KEYS });
  return async () => {
    await context.close();
  };
});

const reported = () =>
  page.waitForRequest((request) => request.method() === "PATCH" && (request.postData() ?? "").includes("push"));

test("a phone that may show notifications subscribes and tells its server where to push", async () => {
  const report = reported();
  await enrol(page, await server.newOwner());
  const request = await report;
  expect(request.postDataJSON()).toEqual({ push: { endpoint: ENDPOINT, keys: KEYS } });
  expect((await request.response())?.status()).toBe(200);
  await page.goto(`${server.url}/#/settings`);
  await page.getByText("On. The server can reach this phone").waitFor();
});

test("an address that the server knows is not told again at the next start", async () => {
  const report = reported();
  await enrol(page, await server.newOwner());
  await (await report).response();
  const told: string[] = [];
  page.on("request", (request) => request.method() === "PATCH" && told.push(request.url()));
  await page.goto(`${server.url}/#/settings`);
  await page.reload();
  await page.getByText("On. The server can reach this phone").waitFor();
  expect(told).toEqual([]);
});
