/** The pictures of the docs: `npm run screenshots` writes them to docs/images; the tests only draw them. */

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, DESKTOP, deviceToken, enrol, launch, newPhone, type Page, PHONE, Server } from "./harness.ts";

const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const IS_KEPT = process.env["REFLECTO_SCREENSHOTS"] !== undefined;

const SETTINGS = [
  { name: "phone-light", viewport: PHONE, colorScheme: "light" },
  { name: "phone-dark", viewport: PHONE, colorScheme: "dark" },
  { name: "desktop-light", viewport: DESKTOP, colorScheme: "light" },
  { name: "desktop-dark", viewport: DESKTOP, colorScheme: "dark" },
] as const;

/** Each screen, and what is there when it is complete. */
const SCREENS = [
  ["inbox", ".markdown li"],
  ["history", ".past-question"],
  ["settings", ".fine"],
  ["settings/tokens", "li.group-row"],
  ["settings/devices", "li.group-row"],
  ["settings/pair", ".qr path"],
] as const;

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

test.each(SETTINGS)("the main screens fit on $name", { timeout: 60_000 }, async ({ name, viewport, colorScheme }) => {
  const { page, context, problems } = await newPhone(browser, {
    viewport,
    colorScheme,
    permissions: ["notifications"],
  });
  const link = await server.newOwner();
  await page.goto(link);
  await picture(page, name, "enrol");
  const token = (await enrol(page, link, "Pixel 9")) as string;
  await picture(page, name, "empty");
  await fill(server, page);
  await picture(page, name, "question");
  await server.ask(await makeToken(server, page, "Release agent"), {
    question: "Which database should the migration run against first?",
    choices: ["Staging", "Production, read replica", "Production, primary", "None, stop here"],
  });
  await page.getByRole("heading", { name: /Which database/ }).waitFor();
  await page.getByRole("button", { name: "Approve" }).click({ delay: 500 });
  await page.getByText("Approved · sent").waitFor();
  await picture(page, name, "answered");
  for (const [tab, settled] of SCREENS) {
    await page.goto(`${server.url}/#/${tab}`);
    if (tab === "settings/pair") await page.getByRole("button", { name: "Pair a device" }).click();
    await page.locator(settled).first().waitFor();
    await picture(page, name, tab.replace("/", "-"));
  }
  await server.call("POST", "/v1/ring", token, { duration: 30, message: "Under the sofa?" });
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await picture(page, name, "ring");
  expect(problems).toEqual([]);
  await context.close();
});

async function fill(server: Server, page: Page): Promise<void> {
  const ci = await makeToken(server, page, "CI");
  const send = (body: object) => server.call("POST", "/v1/send", ci, body);
  await send({
    message: "Nightly backup finished: 48.2 GB in 11 min.",
    title: "Backup done",
    priority: "low",
    tags: ["backup", "nas"],
  });
  await send({
    message:
      "**2 of 214** tests failed on `main`:\n\n- `test_expiry_at_the_second`\n- `test_resume_after_restart`\n\nThe rest is green.",
    title: "Build 1482 is red",
    markdown: true,
    priority: "high",
    url: "https://ci.example.org/builds/1482",
    url_title: "Open the build",
    actions: [{ label: "Retry", url: "https://ci.example.org/builds/1482/retry" }],
  });
  await server.call("POST", "/v1/documents", ci, {
    filename: "release-notes.md",
    content: "# 2.4\n\n- Faster sync\n- Fewer bugs\n",
  });
  await send({ message: "הגיבוי הסתיים בהצלחה", title: "גיבוי" });
  await server.ask(ci, { question: "Deploy build 1481 to production?", expires_in: 600 });
  await page.getByRole("heading", { name: /Deploy build/ }).waitFor();
}

async function makeToken(server: Server, page: Page, label: string): Promise<string> {
  return (await server.call("POST", "/v1/tokens", await deviceToken(page), { label })).body.token;
}

async function picture(page: Page, setting: string, screen: string): Promise<void> {
  await page.mouse.move(0, 0);
  await mkdir(FOLDER, { recursive: true });
  const image = await page.screenshot(IS_KEPT ? { path: `${FOLDER}${screen}-${setting}.png` } : {});
  expect(image.length).toBeGreaterThan(5_000);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow, `${screen} is wider than the screen`).toBeLessThanOrEqual(0);
}
