import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, deviceToken, enrol, launch, newPhone, type Page, Server } from "./harness.ts";

let browser: Browser;
let server: Server;
let page: Page;
let token: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  const phone = await newPhone(browser);
  page = phone.page;
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  return async () => {
    await phone.context.close();
    expect(phone.problems).toEqual([]);
  };
});

const open = (part: string) => page.goto(`${server.url}/#/settings/${part}`);

test("a token is made with its limits, shown once, works, and stops working when it is revoked", async () => {
  await open("tokens");
  await page.getByLabel("New token for").fill("CI");
  await page.getByText("Limit what it may do").click();
  await page.getByLabel("Ring this phone").uncheck();
  await page.getByLabel("Highest priority").selectOption("high");
  await page.getByRole("button", { name: "Make token" }).click();
  const made = (await page.locator(".secret code").textContent()) as string;
  expect(made).toMatch(/^rfk_live_/);
  await page.getByRole("button", { name: "I have copied it" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "CI" });
  expect(await row.textContent()).toContain("up to high · send, ask, remind, files");
  expect(await page.getByText(made).count()).toBe(0);

  const asked = await server.call("POST", "/v1/interactions", made, { question: "Go?" });
  expect(asked.status).toBe(201);
  expect((await server.call("POST", "/v1/ring", made, {})).status).toBe(403);

  await row.getByRole("button", { name: /^Change / }).click();
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  await row.waitFor({ state: "detached" });
  expect((await server.call("GET", "/v1/devices", made)).status).toBe(401);
});

test("a token is renamed and coloured for every device; a name that another has is refused", async () => {
  await open("tokens");
  await server.call("POST", "/v1/tokens", await deviceToken(page), { label: "CI" });
  await page.reload();
  const row = page.getByRole("listitem").filter({ hasText: "Default" });
  await row.getByRole("button", { name: "Change Default" }).click();
  await row.getByLabel("Name, on every device").fill("CI");
  await row.getByRole("button", { name: "Rename" }).click();
  await row.getByRole("alert").waitFor();
  await row.getByLabel("Name, on every device").fill("Release bot");
  await row.getByRole("button", { name: "Rename" }).click();
  const renamed = page.getByRole("listitem").filter({ hasText: "Release bot" });
  await renamed.getByRole("radio", { name: "Rose" }).click({ force: true });
  await renamed.locator(".token .sender-rose").waitFor();
  const { body } = await server.call("GET", "/v1/tokens", await deviceToken(page));
  expect(body.tokens).toContainEqual(expect.objectContaining({ label: "Release bot", colour: "rose" }));
});

test("a muted sender is turned away until it is unmuted with one tap", async () => {
  await open("tokens");
  const row = page.getByRole("listitem").filter({ hasText: "Default" });
  await row.getByRole("button", { name: "Change Default" }).click();
  await row.getByRole("button", { name: "1 hour" }).click();
  await row.getByText(/^Muted until/).waitFor();
  const refused = await server.call("POST", "/v1/interactions", token, { question: "Go?" });
  expect([refused.status, refused.body.error?.code]).toEqual([403, "sender_muted"]);
  await row.getByRole("button", { name: "Unmute" }).click();
  await row.getByText(/^Muted until/).waitFor({ state: "detached" });
  expect((await server.call("POST", "/v1/interactions", token, { question: "Go?" })).status).toBe(201);
});

test("another phone learns who muted a sender: its messages come silently there, and one tap ends it everywhere", async () => {
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  await page.goto(`${server.url}/#/settings/tokens`);
  await page.getByRole("button", { name: "Change Default" }).click();
  await page.getByRole("button", { name: "For good" }).click();
  await page.getByText("Muted", { exact: true }).waitFor();
  await second.page.goto(`${server.url}/#/inbox`);
  const entry = second.page.getByRole("article").filter({ hasText: "Default is muted" });
  await entry.getByText("By Pixel.").waitFor();
  await entry.getByRole("button", { name: "Unmute" }).click();
  await entry.getByRole("button", { name: "Unmute" }).waitFor({ state: "detached" });
  const { body } = await server.call("GET", "/v1/tokens", await deviceToken(page));
  expect(body.tokens).toMatchObject([{ label: "Default", muted_until: null }]);
  await page.goto(`${server.url}/#/inbox`);
  await page.getByText("Default is no longer muted").waitFor();
  await page.getByText("By Tablet.").waitFor();
  await second.context.close();
});

test("all open questions of a sender are refused at once", async () => {
  const ids = [await server.ask(token, { question: "One?" }), await server.ask(token, { question: "Two?" })];
  await open("tokens");
  const row = page.getByRole("listitem").filter({ hasText: "Default" });
  await row.getByRole("button", { name: "Change Default" }).click();
  await row.getByRole("button", { name: "Refuse all its questions" }).click();
  await row.getByRole("button", { name: "Refuse them" }).click();
  for (const id of ids) {
    expect(await server.outcome(token, id)).toMatchObject({ status: "cancelled", reason: "dismissed" });
  }
});

test("a new name is what the asker sees", async () => {
  await open("devices");
  await page.getByLabel("Name of this phone").fill("Küche");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("listitem").filter({ hasText: "Küche" }).waitFor();
  const { body } = await server.call("GET", "/v1/devices", token);
  expect(body.devices).toMatchObject([{ label: "Küche" }]);
});

test("an invitation's code and link enrol a further phone", async () => {
  await open("invite");
  await page.getByRole("button", { name: "Make a code" }).click();
  await page.getByRole("img", { name: /QR code/ }).waitFor();
  const code = (await page.locator(".invite .code").textContent()) as string;
  const second = await newPhone(browser);
  expect(await enrol(second.page, `${server.url}/enroll#${code}`, "Tablet")).toBeNull();
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByText("Tablet", { exact: false }).first().waitFor();
  await second.context.close();
});

test("unpairing the only phone says what that means; with a second one it does not", async () => {
  await open("devices");
  await page.getByRole("button", { name: "Unpair", exact: true }).click();
  await page.getByText("This is your only phone.").waitFor();
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  await page.reload();
  await page.getByRole("listitem").filter({ hasText: "this one" }).getByRole("button", { name: "Unpair" }).click();
  await page.getByText("Unpair this device and erase its history?", { exact: true }).waitFor();
  await second.context.close();
});

test("disconnecting deletes everything on the server and on this phone", async () => {
  await open("devices");
  await page.getByRole("button", { name: "Disconnect", exact: true }).click();
  await page.getByRole("button", { name: "Delete everything" }).click();
  await page.getByRole("button", { name: "I have a link or code" }).waitFor();
  expect((await server.call("GET", "/v1/devices", token)).status).toBe(401);
  const left = await page.evaluate(async () => {
    const request = indexedDB.open("reflecto");
    const database = await new Promise<IDBDatabase>((resolve) => {
      request.onsuccess = () => resolve(request.result);
    });
    const count = (name: string) =>
      new Promise<number>((resolve) => {
        const counted = database.transaction(name).objectStore(name).count();
        counted.onsuccess = () => resolve(counted.result);
      });
    return [await count("facts"), await count("items"), await count("answers")];
  });
  expect(left).toEqual([0, 0, 0]);
});

test("a test question goes the whole way, and the second one needs no second token", async () => {
  for (let count = 0; count < 2; count += 1) {
    await page.goto(`${server.url}/#/settings`);
    await page.getByRole("button", { name: "Send it" }).click();
    await page.waitForURL(`${server.url}/#/questions`);
    await page.getByRole("heading", { name: "Is this phone the one?" }).first().waitFor();
  }
  await open("tokens");
  const row = page.getByRole("listitem").filter({ hasText: "Test from Pixel" });
  await row.waitFor();
  expect(await row.count()).toBe(1);
  await row.getByRole("button", { name: /^Change / }).click();
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  await row.waitFor({ state: "detached" });
  await page.goto(`${server.url}/#/settings`);
  await page.getByRole("button", { name: "Send it" }).click();
  await page.getByRole("heading", { name: "Is this phone the one?" }).first().waitFor();
});

test("installing is offered where the browser offers it, and only then", async () => {
  await page.goto(`${server.url}/#/settings`);
  await page.getByText("Appearance").first().waitFor();
  expect(await page.getByRole("button", { name: "Install" }).count()).toBe(0);
  await page.evaluate(() => {
    const offer = Object.assign(new Event("beforeinstallprompt"), {
      prompt: async () => Object.assign(globalThis, { wasPrompted: true }),
      userChoice: Promise.resolve({ outcome: "accepted" }),
    });
    dispatchEvent(offer);
  });
  await page.getByRole("button", { name: "Install" }).click();
  await expect.poll(() => page.evaluate(() => "wasPrompted" in globalThis)).toBe(true);
  expect(await page.getByRole("button", { name: "Install" }).count()).toBe(0);
});

test("the chosen appearance holds over a restart", async () => {
  await page.goto(`${server.url}/#/settings`);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByRole("group", { name: "Appearance" }).getByRole("button", { name: "Dark" }).click();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole("group", { name: "Appearance" }).waitFor();
  expect(await ground()).toBe(dark);
});
