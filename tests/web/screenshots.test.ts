/** The pictures of the docs: `npm run screenshots` writes them to docs/images; the tests only draw them. */

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  askOnce,
  type Browser,
  DESKTOP,
  deviceToken,
  enrol,
  launch,
  newPhone,
  type Page,
  PHONE,
  Server,
} from "./harness.ts";

import { type Shown, WorkerDriver } from "./worker-driver.ts";

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
  ["history", ".past"],
  ["settings", ".fine"],
  ["settings/tokens", ".group-row.token"],
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
  await page.getByRole("button", { name: "Pair", exact: true }).waitFor();
  await picture(page, name, "enrol");
  const token = (await enrol(page, link, "Pixel 9")) as string;
  await picture(page, name, "empty");
  await fill(server, page);
  await picture(page, name, "question");
  await server.ask(await makeToken(server, page, "Release agent"), {
    question: "Which database should the migration run against first?",
    choices: ["Staging", "Production, read replica", "Production, primary", "None, stop here"],
  });
  await page.locator(".waiting-strip").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Approve" }).click({ delay: 500 });
  await page.getByText("Approve · sent").waitFor();
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

test("a computer joins by typed code, with the same digits on both screens", async () => {
  const phone = await newPhone(browser);
  const laptop = await newPhone(browser, { viewport: DESKTOP, colorScheme: "dark" });
  await enrol(phone.page, await server.newOwner(), "Pixel 9");
  await phone.page.goto(`${server.url}/#/settings/pair`);
  await phone.page.getByRole("button", { name: "Pair a device" }).click();
  const code = (await phone.page.locator(".invite .code").textContent()) as string;
  await laptop.page.goto(`${server.url}/pair`);
  await laptop.page.getByLabel("Pairing code").fill(code);
  await laptop.page.getByLabel("Name of this device").fill("Firefox on laptop");
  await picture(laptop.page, "desktop-dark", "join");
  await laptop.page.getByRole("button", { name: "Ask the phone" }).click();
  await Promise.all([phone, laptop].map(({ page }) => page.locator(".digits").waitFor()));
  await picture(phone.page, "phone-light", "pair-asked");
  await picture(laptop.page, "desktop-dark", "join-compare");
  await Promise.all([phone, laptop].map(({ context }) => context.close()));
});

test("a question on a locked phone, with what its notification really says", async () => {
  const { page, context } = await newPhone(browser, { permissions: ["notifications"], colorScheme: "dark" });
  const driver = new WorkerDriver(context, page, server.url);
  const token = (await enrol(page, await server.newOwner(), "Pixel 9")) as string;
  const ci = await makeToken(server, page, "CI");
  await page.evaluate(() => navigator.serviceWorker.ready);
  await askOnce(server, page, ci);
  await page.goto("about:blank");
  await server.ask(ci, { question: "Deploy build 1481 to production?", expires_in: 600 });
  await driver.push('{"seq":1}');
  await driver.untilShown((all) => all.some(({ actions }) => actions.length === 2));
  const [shown] = (await driver.shown()).filter(({ actions }) => actions.length === 2);
  const icon = await (await fetch(`${server.url}/icons/icon-192.png`)).arrayBuffer();
  await page.setContent(lockScreen(shown as Shown, Buffer.from(icon).toString("base64")));
  await picture(page, "phone-dark", "notification");
  expect((await server.call("GET", "/v1/devices", token)).status).toBe(200);
  await context.close();
});

/** No browser draws its notifications into a picture: this is the frame, the words are the worker's. */
function lockScreen({ title, body, actions }: Shown, icon: string): string {
  return `<!doctype html><style>
    body { margin: 0; height: 100vh; display: grid; grid-template-rows: 38% auto 1fr; padding: 0 14px;
      font: 16px/1.4 system-ui, sans-serif; color: #fff; background: linear-gradient(160deg, #0b5d57, #10243a 70%) }
    time { align-self: center; text-align: center; font-size: 84px; font-weight: 300; letter-spacing: -2px }
    section { padding: 14px 16px; border-radius: 22px; background: rgb(255 255 255 / 16%) }
    header { display: flex; gap: 10px; align-items: center; font-size: 13px; opacity: .9 }
    img { width: 24px; border-radius: 6px }
    h1 { margin: 10px 0 2px; font-size: 16px }
    p { margin: 0 }
    footer { display: flex; gap: 28px; margin-top: 14px; font-weight: 600; color: #8fe3d8 }
  </style><time>9:41</time><section><header><img src="data:image/png;base64,${icon}">Reflecto · now</header>
  <h1>${title}</h1><p>${body}</p><footer>${actions.map((label) => `<span>${label}</span>`).join("")}</footer></section>`;
}

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
