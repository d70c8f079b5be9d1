import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, enrol, launch, nameToken, newPhone, Server } from "./harness.ts";

let browser: Browser;
let server: Server;
let link: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  link = await server.newOwner();
  return async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
});

test("a phone is enrolled from the link, and its token works", async () => {
  const { page, problems } = await newPhone(browser);
  const token = await enrol(page, link, "Pixel");
  expect(token).toMatch(/^rfk_live_[A-Za-z0-9]{32}$/);
  const { body } = await server.call("GET", "/v1/devices", token as string);
  expect(body.devices).toMatchObject([{ label: "Pixel", type: "web", class: "phone", app_build: 1, reachable: true }]);
  expect(problems).toEqual([]);
});

test("the code leaves the address and the history as soon as it is used", async () => {
  const { page } = await newPhone(browser);
  await enrol(page, link);
  expect(page.url()).toBe(`${server.url}/`);
});

test("a code can be typed in any case, with or without its dashes", async () => {
  const { page } = await newPhone(browser);
  const code = link.split("#")[1] ?? "";
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Your programs ask. You tap." }).waitFor(); // what this is comes first
  await page.getByRole("button", { name: "I have a link or code" }).click();
  await page.getByLabel("Setup code").fill(code.toLowerCase().replaceAll("-", " "));
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  await page.getByRole("heading", { name: "Your first token" }).waitFor();
});

test("a reply that is lost does not use the code up: the same again gets it", async () => {
  const { page } = await newPhone(browser);
  await page.route("**/v1/enroll", async (route) => {
    await route.fetch(); // the server has it, and has replied
    await route.abort();
  });
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
  await page.unroute("**/v1/enroll");
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  const token = await page.locator(".secret code").first().textContent();
  const { body } = await server.call("GET", "/v1/devices", token as string);
  expect(body.devices).toHaveLength(1);
});

test("a wrong code is said to be wrong, and another can be tried", async () => {
  const { page } = await newPhone(browser);
  await page.goto(`${server.url}/enroll#AAAA-BBBB-CCCC-DDDD`);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "wrong, used or older" }).waitFor();
  await page.getByLabel("Setup code").fill(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  await page.getByRole("heading", { name: "Your first token" }).waitFor();
});

test("the secret keys cannot be read, not even by the page itself", async () => {
  const { page } = await newPhone(browser);
  await enrol(page, link);
  const kinds = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open("reflecto");
      request.onsuccess = () => resolve(request.result);
    });
    const keys = await new Promise<Record<string, CryptoKey>>((resolve) => {
      const request = database.transaction("facts").objectStore("facts").get("keys");
      request.onsuccess = () => resolve(request.result);
    });
    return [keys["box"], keys["signing"]].map((key) => [key?.type, key?.algorithm.name, key?.extractable]);
  });
  expect(kinds).toEqual([
    ["private", "X25519", false],
    ["private", "Ed25519", false],
  ]);
});

test("the ready command asks a question on this phone", async () => {
  const { page } = await newPhone(browser);
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  await page.getByRole("heading", { name: "Your first token" }).waitFor();
  expect(await page.locator(".secret pre").textContent()).toContain(`curl ${server.url}/v1/interactions`);
  await page.getByRole("button", { name: "Ask myself a question" }).click();
  await page.getByRole("heading", { name: "Is this phone the one?" }).waitFor();
});

test("what the first token is called is asked, and stands on its first question", async () => {
  const { page } = await newPhone(browser);
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page, "Release bot");
  await page.getByRole("button", { name: "Ask myself a question" }).click();
  await page.getByText("Release bot").first().waitFor();
});

test("a token that was not copied yet waits in the inbox until it is erased there", async () => {
  const { page } = await newPhone(browser);
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  await page.getByRole("button", { name: "Ask myself a question" }).click();
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByRole("heading", { name: "Token “Default”" }).waitFor();
  await page.getByRole("button", { name: "Erase it here" }).click();
  await page.getByRole("heading", { name: "All quiet" }).waitFor();
});

test("an enrolment that is loaded again goes on where it was, until its token was copied", async () => {
  const { page } = await newPhone(browser);
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await page.getByRole("heading", { name: "What will send with this token?" }).waitFor();
  await page.reload();
  await nameToken(page, "Release bot");
  await page.getByRole("heading", { name: "Your first token" }).waitFor();
  const token = await page.locator(".secret code").first().textContent();
  for (const address of [`${server.url}/enroll`, server.url]) {
    await page.goto(address);
    await page.getByRole("heading", { name: "Your first token" }).waitFor();
    expect(await page.locator(".secret code").first().textContent()).toBe(token);
  }
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
  const kept = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open("reflecto");
      request.onsuccess = () => resolve(request.result);
    });
    const all = (name: string) =>
      new Promise<unknown[]>((resolve) => {
        const request = database.transaction(name).objectStore(name).getAll();
        request.onsuccess = () => resolve(request.result);
      });
    return JSON.stringify([await all("facts"), await all("items")]);
  });
  expect(kept).not.toContain(token);
  await page.reload();
  await page.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
});

test("a link's code goes before what was left unfinished", async () => {
  const { page } = await newPhone(browser);
  await page.goto(link);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  await nameToken(page);
  await page.getByRole("heading", { name: "Your first token" }).waitFor();
  await page.goto("about:blank");
  await page.goto(await server.newOwner());
  await page.getByText("This browser is paired already").waitFor();
});

test("a copied token is nowhere on the phone", async () => {
  const { page } = await newPhone(browser);
  await enrol(page, link);
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByRole("heading", { name: "All quiet" }).waitFor();
});

test("a second phone joins by an invitation and gets no token", async () => {
  const first = await newPhone(browser);
  const token = (await enrol(first.page, link, "Pixel")) as string;
  const second = await newPhone(browser);
  expect(await enrol(second.page, await server.invite(first.page), "Tablet")).toBeNull();
  const { body } = await server.call("GET", "/v1/devices", token);
  expect(body.devices.map((device: { label: string }) => device.label)).toEqual(["Pixel", "Tablet"]);
});

test("a plain http address says what is missing and how to get it", async () => {
  const { page, problems } = await newPhone(browser);
  await page.goto(link.replace("127.0.0.1", "reflecto.test"));
  await page.getByRole("heading", { name: "This page needs HTTPS" }).waitFor();
  expect(await page.getByText("tailscale serve").count()).toBe(1);
  expect(await page.getByText("caddy reverse-proxy").count()).toBe(1);
  expect(
    await page.getByText(`cloudflared tunnel run --url http://localhost:${new URL(link).port} reflecto`).count(),
  ).toBe(1);
  expect(problems.filter((problem) => !problem.includes("Cross-Origin-Opener-Policy"))).toEqual([]);
});

test("a phone that the server unpaired says so and can start over", async () => {
  const { page } = await newPhone(browser);
  await enrol(page, link, "Pixel");
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  await second.page.goto(`${server.url}/#/settings/devices`);
  await second.page.getByRole("listitem").filter({ hasText: "Pixel" }).getByRole("button", { name: "Unpair" }).click();
  await second.page.getByRole("button", { name: "Unpair it" }).click();
  await page.getByRole("heading", { name: "This phone was unpaired" }).waitFor();
  await page.getByRole("button", { name: "Erase and pair again" }).click();
  await page.getByRole("button", { name: "I have a link or code" }).waitFor();
});
