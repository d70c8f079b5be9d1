import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, enrol, launch, newPhone, type Page, type Reply, Server } from "./harness.ts";

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

async function post(path: string, body: object): Promise<Reply["body"]> {
  const { status, body: reply } = await server.call("POST", path, token, body);
  expect(status, JSON.stringify(reply)).toBeLessThan(300);
  return reply;
}

const openInbox = () => page.getByRole("link", { name: /^Inbox/ }).click();

test("a notification is counted until it was seen, and shows all it has", async () => {
  await post("/v1/send", {
    message: "11 minutes",
    title: "Backup done",
    priority: "urgent",
    tags: ["nas"],
    url: "https://nas.example.org/log",
    url_title: "Log",
    actions: [{ label: "Again", url: "https://nas.example.org/again" }],
  });
  await page
    .getByRole("link", { name: "Inbox , 1 new" })
    .or(page.getByRole("link", { name: "Inbox, 1 new" }))
    .click();
  const card = page.getByRole("article");
  await card.getByRole("heading", { name: "Backup done" }).waitFor();
  for (const text of ["11 minutes", "urgent", "nas", "Default"]) {
    expect(await card.getByText(text, { exact: true }).count(), text).toBe(1);
  }
  const links = await card
    .getByRole("link")
    .evaluateAll((all) => all.map((a) => [a.textContent, a.getAttribute("href")]));
  expect(links).toEqual([
    ["Log nas.example.org ↗", "https://nas.example.org/log"],
    ["Again nas.example.org ↗", "https://nas.example.org/again"],
  ]);
  await page.getByRole("link", { name: "Inbox", exact: true }).waitFor();
});

test("markdown becomes elements; HTML in it stays the text it is, images and scripts load nothing", async () => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const message = [
    "# Title",
    "**bold** <img src=https://evil.example/x onerror=alert(1)> ![pic](https://evil.example/p.png)",
    "[click](javascript:alert(1)) [go](https://example.org/a)",
    "<script>alert(1)</script>",
  ].join("\n\n");
  await post("/v1/send", { message, markdown: true });
  await openInbox();
  const text = page.locator(".markdown");
  await text.getByRole("heading", { name: "Title" }).waitFor();
  expect(await text.locator("strong").textContent()).toBe("bold");
  expect(await text.locator("img, script").count()).toBe(0);
  expect(await text.textContent()).toContain("<img src=https://evil.example/x onerror=alert(1)>");
  const links = await text.getByRole("link").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  expect(links).toEqual(["https://evil.example/p.png", "https://example.org/a"]);
  expect(asked.filter((url) => url.includes("evil"))).toEqual([]);
});

test("a link is never without the host it leads to, whatever it is called", async () => {
  await post("/v1/send", { message: "[https://bank.example](https://evil.example/login)", markdown: true });
  await openInbox();
  await page.getByRole("link", { name: "evil.example" }).waitFor();
});

test("a link's name, its host and what follows are words apart", async () => {
  await post("/v1/send", { message: "See [the log](https://ci.example/1) before noon", markdown: true });
  await openInbox();
  await page.locator(".markdown .host").waitFor();
  expect(await page.locator(".markdown").textContent()).toBe("See the log ci.example ↗ before noon");
});

test("a document is saved byte for byte under its name", async () => {
  const content = "# Notes\n\nÜber 🚀\n";
  await post("/v1/documents", { filename: "notes.md", content });
  await openInbox();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("notes.md");
  expect(await text(await file.createReadStream())).toBe(content);
});

test("a ring goes on over every screen, the inbox among them, until it is stopped", async () => {
  await openInbox();
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
  await post("/v1/ring", { duration: 60, message: "Under the sofa?" });
  const ring = page.getByRole("alertdialog", { name: "Ringing" });
  for (const place of ["#/inbox", "#/history", "#/settings", "#/settings/tokens", "#/questions"]) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, place);
    await ring.getByText("Under the sofa?").waitFor();
  }
  await page.goto(`${server.url}/pair`);
  await ring.getByRole("button", { name: "Stop" }).click({ delay: 600 });
  await ring.waitFor({ state: "detached" });
});

test("a ring takes the screen until it is stopped, and stays stopped", async () => {
  await post("/v1/ring", { duration: 60, message: "Under the sofa?" });
  const ring = page.getByRole("alertdialog", { name: "Ringing" });
  await ring.getByText("Under the sofa?").waitFor();
  await ring.getByRole("button", { name: "Stop" }).click({ delay: 600 });
  await ring.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await ring.count()).toBe(0);
});

test("what arrived while the app was closed is there when it opens, in order", async () => {
  await page.goto("about:blank");
  for (const message of ["one", "two", "three"]) await post("/v1/send", { message });
  await page.goto(`${server.url}/#/inbox`);
  await page.getByText("three", { exact: true }).waitFor();
  const texts = await page.locator(".note-text").allTextContents();
  expect(new Set(texts)).toEqual(new Set(["one", "two", "three"]));
  expect(texts).toHaveLength(3);
});
