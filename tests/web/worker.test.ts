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
import { type Shown, WorkerDriver } from "./worker-driver.ts";

const DEPLOY = { question: "Deploy to production?" };
const AWAY = "about:blank";

let browser: Browser;
let server: Server;
let context: BrowserContext;
let page: Page;
let token: string;
let driver: WorkerDriver;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  ({ context, page } = await newPhone(browser, { permissions: ["notifications"] }));
  driver = new WorkerDriver(context, page, server.url);
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  await page.evaluate(() => navigator.serviceWorker.ready);
  await askOnce(server, page, token);
  await page.goto(AWAY); // closed, as far as the app is concerned
  return async () => {
    await context.close();
  };
});

const shown = () => driver.shown();
const untilShown = (matches: (notifications: Shown[]) => boolean) => driver.untilShown(matches);
const push = (data: string) => driver.push(data);
const click = (tag: string, action: string) => driver.click(tag, action);
const worker = () => driver.worker;

/** What the server's push would carry: the newest entry of this device's queue. */
async function pushNewest(withBlob: boolean): Promise<string> {
  const { body } = await server.call("GET", "/v1/sync/entries?after=0", await deviceToken(worker()));
  const { seq, blob } = body.entries.at(-1);
  const message = JSON.stringify(withBlob ? { seq, blob } : { seq });
  await push(message);
  return message;
}

test("a push is decrypted and shown, with the two choices as buttons", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  expect(await shown()).toEqual([
    {
      title: "Default asks",
      body: "Deploy to production?",
      tag: `interaction:${id}`,
      actions: ["Approve", "Deny"],
    },
  ]);
});

test("a wake-up without its message fetches what there is", async () => {
  await server.ask(token, DEPLOY);
  await push('{"seq":1}');
  await untilShown((all) => all.some(({ title }) => title === "Default asks"));
});

test("a tap on a button answers, and the result takes the notification's place", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await click(`interaction:${id}`, "choice-1");
  await untilShown((all) => all[0]?.title === "Deny · sent");
  expect(await server.outcome(token, id)).toMatchObject({
    status: "answered",
    choice: "Deny",
    answered_by: { label: "Pixel" },
  });
  expect(await shown()).toMatchObject([{ tag: `interaction:${id}`, actions: [] }]);
});

test("the same message by two pushes is one notification, and none comes back after it was answered", async () => {
  const id = await server.ask(token, DEPLOY);
  const message = await pushNewest(true);
  await push(message);
  await untilShown((all) => all.length === 1);
  await click(`interaction:${id}`, "choice-0");
  await untilShown((all) => all[0]?.title === "Approve · sent");
  await push(message);
  expect((await shown()).map(({ title }) => title)).toEqual(["Approve · sent"]);
});

test("a tap on the notification itself opens the question in the app", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await page.goto(`${server.url}/#/settings`);
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await click(`interaction:${id}`, "");
  await page.waitForURL(`${server.url}/#/questions/${id}`);
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
});

test("a question too long for a notification has no buttons there: it is answered under its whole text", async () => {
  await server.ask(token, { question: `Really? ${"x".repeat(300)}` });
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  expect(await shown()).toMatchObject([{ actions: [], body: expect.stringContaining("Open to read it all") }]);
});

test("a sender's first question says so, and is looked at before its first choice can be tapped", async () => {
  const phone = await newPhone(browser, { permissions: ["notifications"] });
  const fresh = new WorkerDriver(phone.context, phone.page, server.url);
  const first = (await enrol(phone.page, await server.newOwner(), "Pixel")) as string;
  await phone.page.evaluate(() => navigator.serviceWorker.ready);
  await phone.page.goto(AWAY);
  await server.ask(first, DEPLOY);
  await fresh.push('{"seq":1}');
  await fresh.untilShown((all) => all.some(({ title }) => title === "Default asks, for the first time"));
  expect((await fresh.shown()).find(({ title }) => title.startsWith("Default"))?.actions).toEqual(["Look", "Deny"]);
  await phone.context.close();
});

test("a burst of one sender's messages is one notification that counts; another sender has its own", async () => {
  const ci = await server.call("POST", "/v1/tokens", await deviceToken(worker()), { label: "CI" });
  for (const build of [1, 2, 3]) {
    await server.call("POST", "/v1/send", ci.body.token, { title: "Red", message: `Build ${build}` });
    await pushNewest(true);
    await untilShown((all) => all.some(({ body }) => body.includes(`Build ${build}`)));
  }
  await server.call("POST", "/v1/send", token, { message: "Backup done" });
  await pushNewest(true);
  await untilShown((all) => all.some(({ body }) => body === "Backup done"));
  const notes = (await shown()).filter(({ tag }) => tag.startsWith("from:"));
  expect(notes.map(({ title, body }) => [title, body]).sort()).toEqual([
    ["CI: 3 messages", "Newest: Red: Build 3"],
    ["Default", "Backup done"],
  ]);
  await page.goto(`${server.url}/#/inbox`);
  await untilShown((all) => all.every(({ tag }) => !tag.startsWith("from:")));
});

test("three choices have no buttons: the platform has room for two", async () => {
  await server.ask(token, { question: "When?", choices: ["Now", "Later", "Never"] });
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  expect(await shown()).toMatchObject([{ actions: [] }]);
});

test("a question withdrawn by its asker disappears from the notifications", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await server.call("DELETE", `/v1/interactions/${id}`, token);
  await pushNewest(true);
  await untilShown((all) => all.length === 0);
});

test("a tap that comes too late says so", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await server.call("DELETE", `/v1/interactions/${id}`, token);
  await click(`interaction:${id}`, "choice-0");
  await untilShown((all) => all[0]?.title === "Too late · Withdrawn by the asker");
});

test("offline, a tap says that it waits; back online the answer goes out and the notification says so", async () => {
  const id = await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await context.setOffline(true);
  await worker().evaluate(() => {
    const scope = globalThis as unknown as { realFetch: typeof fetch; fetch: typeof fetch };
    scope.realFetch = fetch;
    scope.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  });
  await click(`interaction:${id}`, "choice-0");
  await untilShown((all) => all[0]?.title === "Approve · kept, and sent later");
  await worker().evaluate(() => {
    const scope = globalThis as unknown as { realFetch: typeof fetch; fetch: typeof fetch };
    scope.fetch = scope.realFetch;
  });
  await context.setOffline(false);
  await driver.tell("sync");
  await untilShown((all) => all[0]?.title === "Approve · sent");
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Approve" });
});

test("an emergency stays on the screen, comes again each round, and is acknowledged from there", async () => {
  const fields = {
    token,
    user: "u",
    priority: 2,
    retry: 30,
    expire: 600,
    title: "Disk is full",
    message: "<b>db-1</b>",
  };
  const { body } = await server.call("POST", "/1/messages.json", token, { ...fields, html: 1 });
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  expect(await shown()).toMatchObject([
    { title: "Emergency: Default", body: "Disk is full\ndb-1", actions: ["Acknowledge"] },
  ]);
  const tag = (await shown())[0]?.tag ?? "";
  await click(tag, "end");
  await untilShown((all) => all.length === 0);
  const receipt = () => server.call("GET", `/1/receipts/${body.receipt}.json?token=${token}`, token);
  await expect.poll(async () => (await receipt()).body.acknowledged).toBe(1);
});

test("a question that came by push is in the app, once, when the app is opened", async () => {
  await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await page.goto(server.url);
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await page.getByRole("heading", { name: "Deploy to production?" }).count()).toBe(1);
});

test("answering in the app takes the notification away", async () => {
  await server.ask(token, DEPLOY);
  await pushNewest(true);
  await untilShown((all) => all.length === 1);
  await page.goto(server.url);
  await page.getByRole("button", { name: "Deny" }).click({ delay: 600 });
  await page.getByText("Deny · sent").waitFor();
  await untilShown((all) => all.length === 0);
});

test("the app starts without a network, with everything it had", async () => {
  await server.ask(token, DEPLOY);
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await context.setOffline(true);
  await page.reload();
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await page.getByText("No connection", { exact: true }).waitFor();
});

test("what the server says under /v1 never comes from the worker's cache", async () => {
  await page.goto(server.url);
  await page.getByText("Live", { exact: true }).waitFor();
  const kept = await worker().evaluate(async () => {
    const names = await caches.keys();
    const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return keys.flat().map(({ url }) => new URL(url).pathname);
  });
  expect(kept).toContain("/");
  expect(kept.filter((path) => path.endsWith(".json")).map((path) => path.replace(/-.*/, ""))).toEqual(["/assets/en"]);
  expect(kept.filter((path) => path.startsWith("/v1"))).toEqual([]);
});
