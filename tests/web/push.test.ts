/** The whole way of a push: the server encrypts and sends it, the worker is handed what the endpoint decrypted. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  askOnce,
  type Browser,
  type BrowserContext,
  deviceToken,
  enrol,
  launch,
  newPhone,
  type Page,
  Server,
} from "./harness.ts";
import { PushEndpoint, vapidClaims } from "./push-endpoint.ts";
import { FAKE_PUSH_MANAGER } from "./push-manager.ts";
import { WorkerDriver } from "./worker-driver.ts";

const DEPLOY = { question: "Deploy to production?", expires_in: 600 };

let browser: Browser;
let server: Server;
let context: BrowserContext;
let page: Page;
let token: string;
let phoneToken: string;
let endpoint: PushEndpoint;
let driver: WorkerDriver;

beforeAll(async () => {
  const starting = Server.start({ REFLECTO_PUSH_ALLOW_PRIVATE: "true" });
  [browser, server] = await Promise.all([launch(), starting]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  endpoint = await PushEndpoint.open();
  ({ context, page } = await newPhone(browser, { permissions: ["notifications"] }));
  driver = new WorkerDriver(context, page, server.url);
  await context.addInitScript(FAKE_PUSH_MANAGER, endpoint.subscription);
  const reported = page.waitForResponse((response) => (response.request().postData() ?? "").includes("p256dh"));
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  expect((await reported).status()).toBe(200);
  phoneToken = await deviceToken(page);
  return async () => {
    await context.close();
    await endpoint.close();
  };
});

/** Closes the app: its stream ends, and the server pushes. */
async function closeApp(): Promise<void> {
  await page.goto("about:blank");
  const isReachable = async () => {
    const { body } = await server.call("GET", "/v1/devices", token);
    return body.devices[0].reachable;
  };
  await expect.poll(isReachable, { timeout: 10_000 }).toBe(false);
}

test("a question is pushed encrypted, signed and urgent, with the time it has", async () => {
  await closeApp();
  const id = await server.ask(token, DEPLOY);
  const { headers, plaintext } = await endpoint.delivery(1);
  const { body } = await server.call("GET", "/v1/push/key", phoneToken);
  const claims = vapidClaims(headers.authorization ?? "", body.public_key);
  expect(claims["aud"]).toBe(new URL(endpoint.url).origin);
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "high", topic: id.replace("int_", "") });
  expect(Number(headers["ttl"])).toBeGreaterThan(0);
  expect(Number(headers["ttl"])).toBeLessThanOrEqual(DEPLOY.expires_in);
  expect(Object.keys(JSON.parse(plaintext))).toEqual(["seq", "blob"]);
});

test("it is shown, answered from its button, and replaced by the result; the app then has it once", async () => {
  await askOnce(server, page, token);
  await closeApp();
  const id = await server.ask(token, DEPLOY);
  await driver.push((await endpoint.delivery(1)).plaintext);
  await driver.untilShown((all) => all.length === 1);
  const tag = `interaction:${id}`;
  expect(await driver.shown()).toEqual([
    { title: "Default asks", body: DEPLOY.question, tag, actions: ["Approve", "Deny"] },
  ]);
  await driver.click(tag, "choice-0");
  await driver.untilShown((all) => all[0]?.title === "Approve · sent");
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Approve", answered_by: { label: "Pixel" } });

  await page.goto(server.url); // and now the stream brings the same entries
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("link", { name: "History" }).click();
  await page.locator("a.past").filter({ hasText: "Approve" }).waitFor();
  expect(await page.locator("a.past").filter({ hasText: DEPLOY.question }).count()).toBe(1);
  expect((await driver.shown()).filter(({ actions }) => actions.length > 0)).toEqual([]);
});

test("what the stream brought to a hidden page is not shown again by the push of the same entry", async () => {
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  await page.route("**/v1/sync/ack", (route) => route.abort()); // so that the server pushes it all the same
  await server.ask(token, DEPLOY);
  await driver.untilShown((all) => all.length === 1);
  const { plaintext } = await endpoint.delivery(1);
  await driver.worker.evaluate(async () => {
    const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration };
    for (const notification of await registration.getNotifications()) notification.close();
  });
  await driver.push(plaintext);
  await server.call("POST", "/v1/send", token, { message: "Afterwards" });
  await driver.push((await endpoint.delivery(2)).plaintext);
  await driver.untilShown((all) => all.some(({ body }) => body === "Afterwards"));
  expect((await driver.shown()).map(({ body }) => body)).toEqual(["Afterwards"]);
});

test("what is too large for a push comes as a wake-up, and is fetched", async () => {
  await closeApp();
  const content = "x".repeat(20_000);
  await server.call("POST", "/v1/documents", token, { filename: "long.txt", content });
  const { plaintext } = await endpoint.delivery(1);
  expect(Object.keys(JSON.parse(plaintext))).toEqual(["seq"]);
  await driver.push(plaintext);
  await driver.untilShown((all) => all.some(({ body }) => body === "long.txt"));
});

test("a subscription that the browser replaces is told to the server, which pushes there from then on", async () => {
  await closeApp();
  const second = await PushEndpoint.open();
  try {
    await driver.worker.evaluate(FAKE_PUSH_MANAGER, second.subscription);
    await driver.tell("pushsubscriptionchange");
    const known = () =>
      driver.worker.evaluate(async () => {
        const opening = indexedDB.open("reflecto");
        const database = await new Promise<IDBDatabase>((resolve) => {
          opening.onsuccess = () => resolve(opening.result);
        });
        const reading = database.transaction("facts").objectStore("facts").get("pushEndpoint");
        const told = await new Promise<string>((resolve) => {
          reading.onsuccess = () => resolve(reading.result);
        });
        database.close();
        return told;
      });
    await expect.poll(known, { timeout: 10_000 }).toBe(second.url);
    await server.ask(token, DEPLOY);
    const { plaintext } = await second.delivery(1);
    expect(endpoint.deliveries).toEqual([]);
    await driver.push(plaintext);
    await driver.untilShown((all) => all[0]?.body === DEPLOY.question);
  } finally {
    await second.close();
  }
});

test("after the app forgot this phone nothing is pushed to it any more", async () => {
  await page.goto(`${server.url}/#/settings/devices`);
  await page.getByRole("button", { name: "Unpair" }).click();
  await page.getByRole("button", { name: "Unpair it" }).click();
  await page.getByRole("button", { name: "I have a link or code" }).waitFor();
  expect((await server.call("GET", "/v1/devices", token)).body.devices).toEqual([]);
  expect(endpoint.deliveries).toEqual([]);
});
