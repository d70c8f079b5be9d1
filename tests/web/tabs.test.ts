/** Several pages of one browser: one device, one stream. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Browser, type BrowserContext, enrol, launch, newPhone, type Page, Server } from "./harness.ts";

const TABS = 6; // more than the four streams that a device may have

let browser: Browser;
let server: Server;
let context: BrowserContext;
let pages: Page[];
let token: string;
/** Streams that are open now, by the page that reads them. */
let streams: Page[];

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  const phone = await newPhone(browser);
  context = phone.context;
  pages = [phone.page];
  streams = [];
  const isStream = (url: string) => new URL(url).pathname === "/v1/sync";
  context.on("request", (request) => isStream(request.url()) && streams.push(request.frame().page()));
  const ended = (request: { url(): string; frame(): { page(): Page } }) => {
    if (isStream(request.url())) streams.splice(streams.indexOf(request.frame().page()), 1);
  };
  context.on("requestfailed", ended);
  context.on("requestfinished", ended);
  token = (await enrol(phone.page, await server.newOwner())) as string;
  return () => context.close();
});

async function openTabs(): Promise<void> {
  for (let count = 1; count < TABS; count += 1) {
    const page = await context.newPage();
    await page.goto(server.url);
    await page.getByText("Live", { exact: true }).waitFor();
    pages.push(page);
  }
}

const shows = (question: string) =>
  Promise.all(pages.map((page) => page.getByRole("heading", { name: question }).waitFor()));

test("six tabs have one stream, all are live, and a question is in each of them", async () => {
  await openTabs();
  await Promise.all(pages.map((page) => page.getByText("Live", { exact: true }).waitFor()));
  await expect.poll(() => streams.length, { timeout: 20_000 }).toBe(1);
  await server.ask(token, { question: "Deploy?" });
  await shows("Deploy?");
  expect(streams).toHaveLength(1);
});

test("an answer in one tab is seen in all of them", async () => {
  await openTabs();
  await server.ask(token, { question: "Deploy?" });
  await shows("Deploy?");
  await pages[0]?.getByRole("button", { name: "Approve" }).click({ delay: 600 });
  await Promise.all(pages.map((page) => page.getByText("Approve · sent").waitFor()));
});

test("when the tab that has the stream is closed another one takes over", async () => {
  await openTabs();
  await expect.poll(() => streams.length, { timeout: 20_000 }).toBe(1);
  const leader = streams[0] as Page;
  pages = pages.filter((page) => page !== leader);
  await leader.close();
  streams = streams.filter((page) => page !== leader);
  await expect.poll(() => streams.length, { timeout: 20_000 }).toBe(1);
  await server.ask(token, { question: "Still there?" });
  await shows("Still there?");
});

test("a page that is opened over and over is live each time", async () => {
  for (let count = 0; count < 15; count += 1) {
    await pages[0]?.reload();
    await pages[0]?.getByText("Live", { exact: true }).waitFor();
  }
});
