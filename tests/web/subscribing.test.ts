import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, type BrowserContext, enrol, launch, newPhone, type Page, Server } from "./harness.ts";

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
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = await Server.start();
  ({ context, page } = await newPhone(browser, { permissions: ["notifications"] }));
  // Chromium subscribes at a service of its maker, which no test may reach: this is the service's part.
  await context.addInitScript(
    ({ endpoint, keys }) => {
      if (!("PushManager" in globalThis)) return;
      let current: object | null = null;
      PushManager.prototype.getSubscription = async () => current as PushSubscription | null;
      PushManager.prototype.subscribe = async (options) => {
        const applicationServerKey = (options as { applicationServerKey: Uint8Array<ArrayBuffer> }).applicationServerKey
          .buffer;
        current = {
          options: { applicationServerKey },
          toJSON: () => ({ endpoint, keys }),
          unsubscribe: async () => true,
        };
        return current as PushSubscription;
      };
    },
    { endpoint: ENDPOINT, keys: KEYS },
  );
  return async () => {
    await context.close();
    await server.stop();
  };
});

const reported = () =>
  page.waitForRequest((request) => request.method() === "PATCH" && (request.postData() ?? "").includes("push"));

test("a phone that may show notifications subscribes and tells its server where to push", async () => {
  const report = reported();
  await enrol(page, server.link);
  const request = await report;
  expect(request.postDataJSON()).toEqual({ push: { endpoint: ENDPOINT, keys: KEYS } });
  expect((await request.response())?.status()).toBe(200);
  await page.goto(`${server.url}/#/settings`);
  await page.getByText("On. The server can reach this phone").waitFor();
});

test("an address that the server knows is not told again at the next start", async () => {
  const report = reported();
  await enrol(page, server.link);
  await (await report).response();
  const told: string[] = [];
  page.on("request", (request) => request.method() === "PATCH" && told.push(request.url()));
  await page.goto(`${server.url}/#/settings`);
  await page.reload();
  await page.getByText("On. The server can reach this phone").waitFor();
  expect(told).toEqual([]);
});
