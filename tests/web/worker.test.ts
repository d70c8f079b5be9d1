import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, type BrowserContext, enrol, launch, newPhone, type Page, Server, WAIT_MS } from "./harness.ts";

// What there is in a worker, where these functions are sent to.
type WorkerScope = { registration: ServiceWorkerRegistration };
declare const NotificationEvent: new (type: string, init: { notification: Notification; action: string }) => Event;
declare const ExtendableEvent: new (type: string) => Event;

const DEPLOY = { question: "Deploy to production?" };
const AWAY = "about:blank";

let browser: Browser;
let server: Server;
let context: BrowserContext;
let page: Page;
let token: string;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = await Server.start();
  ({ context, page } = await newPhone(browser, { permissions: ["notifications"] }));
  token = (await enrol(page, server.link, "Pixel")) as string;
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.goto(AWAY); // closed, as far as the app is concerned
  return async () => {
    await context.close();
    await server.stop();
  };
});

interface Shown {
  title: string;
  body: string;
  tag: string;
  actions: string[];
}

const worker = () => {
  const [found] = context.serviceWorkers();
  if (!found) throw new Error("no service worker");
  return found;
};

/** What the notification centre shows. */
const shown = () =>
  worker().evaluate(async () => {
    const { registration } = globalThis as unknown as WorkerScope;
    const notifications = (await registration.getNotifications()) as (Notification & {
      actions: { title: string }[];
    })[];
    return notifications.map(({ title, body, tag, actions }) => {
      return { title, body, tag, actions: actions.map((action) => action.title) };
    });
  }) as Promise<Shown[]>;

const untilShown = (matches: (notifications: Shown[]) => boolean) =>
  expect.poll(async () => matches(await shown()), { timeout: WAIT_MS, interval: 50 }).toBe(true);

/** The push service's part: hands the worker a message through the DevTools protocol. */
async function push(data: string): Promise<void> {
  const session = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL === `${server.url}/`);
      if (own) resolve(own.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const registrationId = await registered;
  await session.send("ServiceWorker.deliverPushMessage", { origin: `${server.url}/`, registrationId, data });
  await session.detach();
}

/** What the server's push would carry: the newest entry of this device's queue, read from its own stream. */
async function pushNewest(withBlob: boolean): Promise<string> {
  const entry = await worker().evaluate(async () => {
    const open = indexedDB.open("reflecto");
    const database = await new Promise<IDBDatabase>((resolve) => {
      open.onsuccess = () => resolve(open.result);
    });
    const read = database.transaction("facts").objectStore("facts").get("device");
    const device = await new Promise<{ deviceToken: string }>((resolve) => {
      read.onsuccess = () => resolve(read.result);
    });
    database.close();
    const headers = { Authorization: `Bearer ${device.deviceToken}` };
    const response = await fetch("/v1/sync?after=0", { headers });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    for (;;) {
      const { value } = await reader.read();
      text += new TextDecoder().decode(value);
      const events = [...text.matchAll(/data: (.*)\n\n/g)];
      if (events.length > 0) {
        await reader.cancel();
        return JSON.parse(events.at(-1)?.[1] ?? "") as { seq: number; blob: string };
      }
    }
  });
  const message = JSON.stringify(withBlob ? { seq: entry.seq, blob: entry.blob } : { seq: entry.seq });
  await push(message);
  return message;
}

/** A tap on the notification, or on one of its buttons. */
const click = (tag: string, action: string) =>
  worker().evaluate(
    async (tapped) => {
      const { registration } = globalThis as unknown as WorkerScope;
      const [notification] = await registration.getNotifications({ tag: tapped.tag });
      dispatchEvent(
        new NotificationEvent("notificationclick", {
          notification: notification as Notification,
          action: tapped.action,
        }),
      );
    },
    { tag, action },
  );

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
  await untilShown((all) => all[0]?.title === "Denied · sent");
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
  await untilShown((all) => all[0]?.title === "Approved · sent");
  await push(message);
  expect((await shown()).map(({ title }) => title)).toEqual(["Approved · sent"]);
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
  await untilShown((all) => all[0]?.title === "Too late: withdrawn by the asker");
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
  await untilShown((all) => all[0]?.title === "Approve · will be sent when online");
  await worker().evaluate(() => {
    const scope = globalThis as unknown as { realFetch: typeof fetch; fetch: typeof fetch };
    scope.fetch = scope.realFetch;
  });
  await context.setOffline(false);
  await worker().evaluate(() => dispatchEvent(new ExtendableEvent("sync")));
  await untilShown((all) => all[0]?.title === "Approved · sent");
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Approve" });
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
  await page.getByText("Denied · sent").waitFor();
  await untilShown((all) => all.length === 0);
});

test("the app starts without a network, with everything it had", async () => {
  await server.ask(token, DEPLOY);
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await context.setOffline(true);
  await page.reload();
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await page.getByText("Offline", { exact: true }).waitFor();
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
  expect(kept.filter((path) => path.startsWith("/v1"))).toEqual([]);
});
