import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, DESKTOP, enrol, launch, newPhone, type Page, PHONE, Server, settle } from "./harness.ts";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCREENS = [
  "questions",
  "inbox",
  "history",
  "settings",
  "settings/tokens",
  "settings/devices",
  "settings/pair",
  "settings/invite",
];
const EMERGENCY = { user: "u", priority: 2, retry: 60, expire: 3600, title: "Disk is full", message: "Since 12:03." };
const QUESTION = { question: "Deploy to production?\n\u202eabc", choices: ["Approve", "Deny", "Later"] };
/** The aim is 50 ms, and the log says what it was; a test machine that does other things too must not fail for it. */
const DRAWN_P50_MAX_MS = 500;
const ROUNDS = 21;

let browser: Browser;
let server: Server;
/** Of the phone that a test enrolled last. */
let token: string | null = null;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});

async function phoneWithContent(options: Parameters<typeof newPhone>[1] = {}) {
  const phone = await newPhone(browser, options);
  token = await enrol(phone.page, await server.newOwner(), "Pixel");
  const asker = token as string;
  await server.ask(asker, { ...QUESTION, idempotency_key: crypto.randomUUID() });
  const message = "**Done** in `11 min`\n\n- one\n- two";
  await server.call("POST", "/v1/send", asker, {
    message,
    markdown: true,
    priority: "high",
    tags: ["x"],
    url: "https://a.example",
  });
  await server.call("POST", "/v1/documents", asker, { filename: "a.txt", content: "text" });
  await phone.page
    .getByRole("heading", { name: /Deploy to production/ })
    .first()
    .waitFor();
  return phone;
}

async function seriousFaults(page: Page): Promise<string[]> {
  // The page's own policy forbids injected scripts; the debugger is not the page.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}

test.each([
  ["phone, light", PHONE, "light"],
  ["desktop, dark", DESKTOP, "dark"],
] as const)(
  "axe finds no serious fault on any screen: %s",
  { timeout: 60_000 },
  async (_name, viewport, colorScheme) => {
    const { page, context } = await phoneWithContent({ viewport, colorScheme });
    for (const screen of SCREENS) {
      await page.goto(`${server.url}/#/${screen}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await seriousFaults(page), screen).toEqual([]);
    }
    await page.goto(`${server.url}/#/history`);
    await server.ask(token as string, { question: "Another one?" });
    await page.locator(".arrived").waitFor();
    expect(await seriousFaults(page), "arrival").toEqual([]);
    await page.locator(".past").first().click();
    await page.getByRole("button", { name: "Delete this" }).click();
    expect(await seriousFaults(page), "one thing of the past").toEqual([]);
    await page.goto(`${server.url}/enroll`);
    await page.getByLabel("Setup code").waitFor();
    expect(await seriousFaults(page), "enrol").toEqual([]);
    await page.goto(`${server.url}/pair`);
    await page.getByLabel("Pairing code").waitFor();
    expect(await seriousFaults(page), "pair").toEqual([]);
    const stranger = await newPhone(browser, { viewport, colorScheme });
    await stranger.page.goto(server.url);
    await stranger.page.getByRole("button", { name: "How do I get one?" }).click();
    expect(await seriousFaults(stranger.page), "welcome").toEqual([]);
    await stranger.context.close();
    await context.close();
  },
);

test("nothing moves when questions come, run down and are answered", async () => {
  const { page, context } = await phoneWithContent();
  await page.evaluate(() => {
    const moved: string[] = [];
    Object.assign(globalThis, { moved });
    type Shift = PerformanceEntry & { sources: { node: Element | null }[] };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        moved.push(
          ...entry.sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200) ?? "something gone"),
        );
      }
    }).observe({ type: "layout-shift" });
  });
  const asker = token as string;
  await server.ask(asker, { question: "Another one?" });
  await page.getByText("1 more", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Later" }).click({ delay: 600 });
  await page.getByRole("heading", { name: "Another one?" }).waitFor();
  expect(await page.evaluate(() => (globalThis as unknown as { moved: string[] }).moved)).toEqual([]);
  await context.close();
});

test("text at twice its size still fits, nothing is cut or needs sideways scrolling", async () => {
  const { page, context } = await phoneWithContent();
  for (const screen of SCREENS) {
    await page.goto(`${server.url}/#/${screen}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), screen).toBeLessThanOrEqual(0);
    expect(await tornWords(page), screen).toEqual([]);
  }
  await context.close();
});

/** Words of buttons that stand on two lines, or reach out of what can be seen. */
function tornWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const torn: string[] = [];
    for (const button of document.querySelectorAll("button, .button, .tab, .banner strong")) {
      const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if ((text.parentElement?.getBoundingClientRect().width ?? 0) <= 1) continue; // for a screen reader alone
        for (const { index, 0: word } of (text.textContent ?? "").matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const isOut = !button.closest(".chips") && range.getBoundingClientRect().right > innerWidth + 1;
          if (range.getClientRects().length > 1 || isOut) torn.push(word);
        }
      }
    }
    return torn;
  });
}

test.each([
  ["light", "/v1/ring", { duration: 60, message: "Side gate" }],
  ["dark", "/v1/ring", { duration: 60 }],
  ["light", "/1/messages.json", EMERGENCY],
  ["dark", "/1/messages.json", EMERGENCY],
] as const)(
  "what is over everything has no serious fault and fits at twice the size: %s, %s",
  async (scheme, path, body) => {
    const { page, context } = await phoneWithContent({ colorScheme: scheme });
    await server.call("POST", path, token as string, { token, ...body });
    await page.getByRole("alertdialog").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
    const overlay = page.locator(".ring");
    expect(await overlay.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    for (const button of await overlay.getByRole("button").all()) {
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
    await context.close();
  },
);

test("right to left mirrors the frame without sideways scrolling", async () => {
  const { page, context } = await phoneWithContent({ viewport: DESKTOP });
  await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
  const box = await page.getByRole("navigation", { name: "Main" }).boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBe(DESKTOP.width);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await context.close();
});

test("a question can be answered with the keyboard alone", async () => {
  const { page, context } = await phoneWithContent();
  await settle(page, "Deploy to production?");
  const button = page.getByRole("button", { name: "Later" }).first();
  for (let presses = 0; presses < 20; presses += 1) {
    if (await button.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByText("Later · sent").waitFor();
  await context.close();
});

test("the browser finds the app installable", async () => {
  const { page, context } = await phoneWithContent();
  const session = await context.newCDPSession(page);
  const { errors, data } = await session.send("Page.getAppManifest");
  expect(errors).toEqual([]);
  const manifest = JSON.parse(data ?? "{}") as { lang?: string; screenshots?: { src: string; form_factor: string }[] };
  expect(manifest.lang).toBe("en");
  expect(manifest.screenshots?.map(({ form_factor }) => form_factor)).toEqual(["narrow", "wide"]);
  for (const { src } of manifest.screenshots ?? []) {
    expect((await fetch(`${server.url}/${src}`)).headers.get("Content-Type"), src).toBe("image/png");
  }
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // A test's profile counts as incognito, which alone forbids installing.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual([]);
  await context.close();
});

test("a question is drawn in an open page a moment after it is posted", {
  timeout: 60_000,
}, async () => {
  const { page, context } = await phoneWithContent({ viewport: DESKTOP });
  const asker = token as string;
  await page.evaluate(() => {
    const drawn: Record<string, number> = {};
    Object.assign(globalThis, { drawn });
    new MutationObserver(() => {
      for (const heading of document.querySelectorAll("h2, .beside strong")) {
        const text = heading.textContent ?? "";
        if (text.startsWith("Round") && !(text in drawn)) drawn[text] = Date.now();
      }
    }).observe(document.body, { childList: true, subtree: true });
  });
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const question = `Round ${round}?`;
    const postedAt = Date.now();
    const id = await server.ask(asker, { question });
    const drawnAt = await page.waitForFunction(
      (text) => (globalThis as unknown as { drawn: Record<string, number> }).drawn[text],
      question,
    );
    delays.push(((await drawnAt.jsonValue()) ?? Number.NaN) - postedAt);
    await server.call("DELETE", `/v1/interactions/${id}`, asker);
  }
  const median = delays.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  console.info(`POST to drawn, ${ROUNDS} rounds: p50 ${median} ms, max ${delays.at(-1)} ms`);
  expect(median).toBeLessThan(DRAWN_P50_MAX_MS);
  await context.close();
});
