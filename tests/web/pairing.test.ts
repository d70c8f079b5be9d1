/** A further device, in a browser of its own, paired by the protocol in which neither end believes the server. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Bytes,
  boxKey,
  fromBase64,
  keysFromSecrets,
  type PairingState,
  seal,
  toBase64,
  utf8,
} from "../../web/packages/core/src/index.ts";
import { type Browser, DESKTOP, deviceToken, enrol, launch, newPhone, type Page, Server } from "./harness.ts";

let browser: Browser;
let server: Server;
let phone: Page;
let laptop: Page;
let token: string;
let problems: string[][];

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  const opened = [await newPhone(browser), await newPhone(browser, { viewport: DESKTOP })];
  [phone, laptop] = opened.map(({ page }) => page) as [Page, Page];
  problems = opened.map((each) => each.problems);
  token = (await enrol(phone, await server.newOwner(), "Pixel")) as string;
  return async () => {
    await Promise.all([phone, laptop].map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
});

/** Makes the phone invite, and returns the link and the code that it shows. */
async function invite(): Promise<{ link: string; code: string }> {
  await phone.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
  await phone.goto(`${server.url}/#/settings/pair`);
  await phone.getByRole("button", { name: "Pair a device" }).click();
  await phone.getByRole("img", { name: /QR code/ }).waitFor();
  await phone.getByRole("button", { name: "Copy link" }).click();
  await phone.getByRole("button", { name: "Copied" }).waitFor();
  const link = await phone.evaluate(() => navigator.clipboard.readText());
  return { link, code: (await phone.locator(".invite .code").textContent()) as string };
}

async function ask(label: string, use: RegExp): Promise<void> {
  await laptop.getByLabel("Name of this device").fill(label);
  await laptop.getByRole("radio", { name: use }).check();
  await laptop.getByRole("button", { name: "Ask the phone" }).click();
}

const newcomer = () => phone.getByRole("alertdialog", { name: "A device asks to join" });

async function devices(): Promise<Record<string, unknown>[]> {
  return (await server.call("GET", "/v1/devices", token)).body.devices;
}

/** Pairs the laptop by link; returns the device tokens of both. */
async function pairByLink(use = /notifications only/): Promise<void> {
  await laptop.goto((await invite()).link);
  await ask("Firefox on laptop", use);
  await newcomer().getByRole("button", { name: "Let it in" }).click();
  await laptop.getByText("Live", { exact: true }).waitFor();
}

test("by link: the phone shows who asks, lets it in, and the new device goes on as a desktop", async () => {
  const { link } = await invite();
  await laptop.goto(link);
  await ask("Firefox on laptop", /notifications only/);
  await laptop.getByRole("heading", { name: "Look at your phone" }).waitFor();
  await newcomer().getByText("Firefox on laptop").waitFor();
  expect(await newcomer().textContent()).toContain("Browser · will be shown notifications");
  expect(await newcomer().locator(".digits").count()).toBe(0);
  await newcomer().getByRole("button", { name: "Let it in" }).click();
  await phone.getByText("is paired.").waitFor();
  await laptop.getByText("Live", { exact: true }).waitFor();
  expect(laptop.url()).toBe(`${server.url}/`);
  expect(await devices()).toMatchObject([
    { label: "Pixel", class: "phone" },
    { label: "Firefox on laptop", type: "web", class: "desktop", reachable: true },
  ]);
  expect(problems).toEqual([[], []]);
});

test("the invitation's secret is sent to nobody, and leaves the address as soon as it is used", async () => {
  const sent: string[] = [];
  for (const page of [phone, laptop]) {
    page.on("request", (request) => sent.push(request.url().split("#")[0] + (request.postData() ?? "")));
  }
  const { link, code } = await invite();
  await laptop.goto(link);
  await ask("Laptop", /notifications only/);
  await newcomer().waitFor();
  expect(laptop.url()).toBe(`${server.url}/pair`);
  const secret = Buffer.from(link.split("#")[1] ?? "", "base64url").subarray(17, 49);
  const all = sent.join("\n");
  expect(all).toContain("/claim");
  for (const form of [secret.toString("base64"), secret.toString("base64url"), secret.toString("hex"), code]) {
    expect(all).not.toContain(form);
  }
});

test("by typed code: both screens show the same six digits before the phone lets it in", async () => {
  const { code } = await invite();
  await laptop.goto(`${server.url}/pair`);
  await laptop.getByLabel("Pairing code").fill(code.toLowerCase().replaceAll("-", " "));
  await ask("Tablet", /Also answers/);
  const there = await laptop.locator(".digits").textContent();
  expect(there).toMatch(/^\d{3} \d{3}$/);
  expect(await newcomer().locator(".digits").textContent()).toBe(there);
  expect(await newcomer().textContent()).toContain("will answer your questions");
  await newcomer().getByRole("button", { name: "They match" }).click();
  await laptop.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
  const id = await server.ask(token, { question: "Deploy?" });
  await laptop.getByRole("button", { name: "Deny" }).click({ delay: 600 });
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Deny", answered_by: { label: "Tablet" } });
});

test("a desktop is shown notifications, has no questions, and a say over itself alone", async () => {
  await pairByLink();
  await server.ask(token, { question: "Deploy?" });
  await server.call("POST", "/v1/send", token, { message: "Backup done" });
  await laptop.getByText("Backup done").waitFor();
  expect(await laptop.getByRole("link", { name: /^Questions/ }).count()).toBe(0);
  await laptop.goto(`${server.url}/#/questions`);
  await laptop.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await laptop.goto(`${server.url}/#/settings`);
  const parts = laptop.getByRole("navigation", { name: "Settings" }).getByRole("link");
  expect(await parts.locator("strong").allTextContents()).toEqual(["Devices"]);
  await parts.click();
  await laptop.getByRole("listitem").filter({ hasText: "Pixel" }).waitFor();
  expect(await laptop.getByRole("button", { name: "Unpair" }).count()).toBe(1);
  expect(await laptop.getByRole("button", { name: "Disconnect" }).count()).toBe(0);
});

test("it stays what it is over a restart, and can unpair itself", async () => {
  await pairByLink();
  await laptop.reload();
  await laptop.getByText("Live", { exact: true }).waitFor();
  await laptop.goto(`${server.url}/#/settings/devices`);
  await laptop.getByRole("button", { name: "Unpair" }).click();
  await laptop.getByRole("button", { name: "Unpair it" }).click();
  await laptop.getByRole("button", { name: "I have a link or code" }).waitFor();
  expect(await devices()).toMatchObject([{ label: "Pixel" }]);
});

test("a device that the phone rejects is told so, and is none", async () => {
  await laptop.goto((await invite()).link);
  await ask("Laptop", /notifications only/);
  await newcomer().getByRole("button", { name: "Reject" }).click();
  await laptop.getByText("The phone did not let this device in.").waitFor();
  expect(await devices()).toHaveLength(1);
});

test("leaving the screen withdraws the invitation", async () => {
  const { link } = await invite();
  const withdrawn = phone.waitForResponse((response) => response.request().method() === "DELETE");
  await phone.getByRole("link", { name: /^Inbox/ }).click();
  await withdrawn;
  await laptop.goto(link);
  await ask("Laptop", /notifications only/);
  await laptop.getByText("Another device used this invitation").waitFor();
});

test.each([
  ["a link that is not whole", "#Aa_21OF", "This is no pairing code or link"],
  ["a code nobody made", "", "This invitation is unknown"],
])("%s is said to be none", async (_what, fragment, said) => {
  await laptop.goto(`${server.url}/pair${fragment}`);
  if (!fragment) await laptop.getByLabel("Pairing code").fill("AAAA-BBBB-CCCC-DDDD");
  await laptop.getByRole("button", { name: "Ask the phone" }).click();
  await laptop.getByRole("alert").filter({ hasText: said }).waitFor();
});

const ATTACKER = keysFromSecrets({ box: new Uint8Array(32).fill(7), signingSeed: new Uint8Array(32).fill(8) });

test("a server that swaps the new device's key is found out on the phone, which lets nobody in", async () => {
  await phone.route(/\/v1\/pairings\/par_\w+\?/, async (route) => {
    const state: PairingState = await (await route.fetch({ timeout: 0 })).json();
    const claim = state.claim && { ...state.claim, public_key: toBase64(ATTACKER.publicKey) };
    await route.fulfill({ json: { ...state, claim } });
  });
  await laptop.goto((await invite()).link);
  await ask("Laptop", /notifications only/);
  await phone.getByRole("alert").filter({ hasText: "The server did not tell the truth" }).waitFor();
  await laptop.getByText("The phone did not let this device in.").waitFor();
  expect(await devices()).toHaveLength(1);
});

test("a server that swaps its own key is found out on the new device, which keeps nothing", async () => {
  await laptop.route(/\/outcome\?/, async (route) => {
    const outcome = await (await route.fetch({ timeout: 0 })).json();
    if (outcome.admission) outcome.admission.server_key = toBase64(ATTACKER.publicKey);
    await route.fulfill({ json: outcome });
  });
  await laptop.goto((await invite()).link);
  await ask("Laptop", /notifications only/);
  await newcomer().getByRole("button", { name: "Let it in" }).click();
  await laptop.getByRole("alert").filter({ hasText: "The server did not tell the truth" }).waitFor();
  await laptop.goto(server.url);
  await laptop.getByRole("button", { name: "I have a link or code" }).waitFor();
});

test("what one paired device seals for the other is opened there; what the server sends in its name is not", async () => {
  await pairByLink();
  const [self, other] = (await server.call("GET", "/v1/devices", await deviceToken(laptop))).body.devices;
  const note = (message: string) =>
    utf8(JSON.stringify({ type: "notification", id: `msg_${message}`, ts: 1, source: {}, payload: { message } }));
  const forged = seal(await ATTACKER.sharedKey(fromBase64(self.public_key)), note("forged"));
  const sealed = seal(await sharedKey(laptop, self.public_key), note("genuine"));
  const blobs = [forged, sealed].map(toBase64);
  const relay = { to: [self.device_id, self.device_id], blobs };
  expect((await server.call("POST", "/v1/relay", await deviceToken(laptop), relay)).status).toBe(204);
  expect(other.class).toBe("desktop");
  await phone.getByRole("link", { name: /^Inbox/ }).click();
  await phone.getByText("genuine").waitFor();
  expect(await phone.getByText("forged").count()).toBe(0);
});

/** Agreed on by the page's own secret, which it hands to nobody. */
async function sharedKey(page: Page, theirs: string): Promise<Bytes> {
  const agreed = await page.evaluate(async (publicKey) => {
    const opening = indexedDB.open("reflecto");
    const database = await new Promise<IDBDatabase>((resolve) => {
      opening.onsuccess = () => resolve(opening.result);
    });
    const reading = database.transaction("facts").objectStore("facts").get("keys");
    const { box } = await new Promise<{ box: CryptoKey }>((resolve) => {
      reading.onsuccess = () => resolve(reading.result);
    });
    const raw = Uint8Array.from(atob(publicKey), (char) => char.charCodeAt(0));
    const key = await crypto.subtle.importKey("raw", raw, { name: "X25519" }, false, []);
    return [...new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: key }, box, 256))];
  }, theirs);
  return boxKey(new Uint8Array(agreed));
}
