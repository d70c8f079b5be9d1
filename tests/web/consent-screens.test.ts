/** Every form of a question, on phones and computers, in three languages: whole, in reach, and readable for everybody. */

import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, DESKTOP, deviceToken, enrol, launch, newPhone, type Page, PHONE, Server } from "./harness.ts";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FOLDER = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const IS_KEPT = process.env["REFLECTO_SCREENSHOTS"] !== undefined;
const TOUCH_PX = 44;

const AGENT = { app: "Claude Code", host: "laptop-17", where: "~/shop" };
const EDIT = `@@ -18,8 +18,9 @@ class RetryPolicy
 export class RetryPolicy {
   constructor(private readonly clock: Clock) {}
 
-  async run<T>(call: () => Promise<T>): Promise<T> {
-    for (let i = 0; i < 3; i++) {
+  async run<T>(call: () => Promise<T>, tries = 5): Promise<T> {
+    for (let i = 0; i < tries; i++) {
+      await this.clock.wait(2 ** i);
       try {
         return await call();
       } catch (error) {
@@ -112,1 +113,61 @@ const DECLINE_CODES
 const DECLINE_CODES = [
${Array.from({ length: 60 }, (_, at) => `+  { code: ${1000 + at}, isFinal: ${at % 3 === 0} },`).join("\n")}
`;

/** Each form by its name: what is asked, and what to press before it is looked at. */
const FORMS = {
  command: {
    question: "Run this command?",
    choices: ["Allow", "Deny"],
    danger: "high",
    comment: "optional",
    details: [
      {
        kind: "code",
        label: "Bash",
        text:
          "git fetch origin && git reset --hard origin/main\n" +
          `psql "$DATABASE_URL" -c "delete from orders where created_at < now() - interval '90 days'"\n` +
          "./scripts/migrate.sh --env production --yes",
      },
      {
        kind: "fields",
        fields: [
          { name: "Why", value: "Reset the branch, drop old orders, migrate" },
          { name: "Folder", value: "~/shop" },
        ],
      },
    ],
  },
  diff: {
    question: "Edit this file?",
    choices: ["Allow", "Deny", "Allow, and don’t ask again for edits in src"],
    comment: "optional",
    details: [{ kind: "diff", label: "src/billing/retry.ts", text: EDIT }],
  },
  number: {
    question: "Push to main?",
    choices: ["Allow", "Deny"],
    confirm: "number",
    details: [{ kind: "code", text: "git push --force origin main" }],
  },
  hold: {
    question: "Delete 214 snapshots older than a year?",
    choices: ["Delete", "Keep them"],
    confirm: "hold",
    danger: "high",
    details: [{ kind: "fields", fields: [{ name: "Frees", value: "1.9 TB" }] }],
  },
  four: {
    question: "Which snapshot shall I restore?",
    choices: ["Today, 03:00", "Yesterday, 03:00", "A week ago", "None of them"],
  },
} as const;
type Form = keyof typeof FORMS;

const SETTINGS = [
  { name: "phone-light", viewport: PHONE, colorScheme: "light", language: "en", kept: ["command", "diff", "number"] },
  { name: "phone-dark-de", viewport: PHONE, colorScheme: "dark", language: "de", kept: ["command", "hold"] },
  { name: "desktop-dark", viewport: DESKTOP, colorScheme: "dark", language: "en", kept: ["command", "diff"] },
  { name: "phone-light-ar", viewport: PHONE, colorScheme: "light", language: "ar", kept: ["command", "four"] },
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

test.each(SETTINGS)(
  "every form of a question is whole, in reach and has no serious fault: $name",
  { timeout: 120_000 },
  async ({ name, viewport, colorScheme, language, kept }) => {
    const phone = await newPhone(browser, { viewport, colorScheme, permissions: ["notifications"] });
    const { page, context, problems } = phone;
    await enrol(page, await server.newOwner(), "Pixel 9");
    const made = await server.call("POST", "/v1/tokens", await deviceToken(page), { label: "Claude on the laptop" });
    await page.goto(`${server.url}/#/settings`);
    await page.locator("select").last().selectOption(language);
    await page.locator(`html[lang=${language}]`).waitFor();
    for (const [form, question] of Object.entries(FORMS)) {
      const id = await server.ask(made.body.token, { ...question, source: AGENT });
      await page.goto(`${server.url}/#/questions/${id}`);
      await page.locator(".question-text", { hasText: question.question }).waitFor();
      await page.waitForTimeout(GUARD_MS);
      if (form === "number") await page.locator('[data-choice="1"]').click();
      await look(page, form);
      if ((kept as readonly string[]).includes(form)) await picture(page, `${form}-${name}`);
    }
    for (const [index, panel] of ["say-why", "sender"].entries()) {
      await page.goto(`${server.url}/#/history`);
      await page.goto(`${server.url}/#/questions`);
      await page.locator(".question-text", { hasText: FORMS.command.question }).waitFor();
      await page.locator(".quiet-row .quiet").nth(index).click();
      await page.locator("dialog[open]").waitFor();
      await look(page, panel);
      if (name === "phone-light") await picture(page, `${panel}-${name}`);
      await page.keyboard.press("Escape");
    }
    expect(problems).toEqual([]);
    await context.close();
  },
);

const GUARD_MS = 450;

/** As it is, and with text at twice its size. */
async function look(page: Page, form: Form | string): Promise<void> {
  const viewport = page.viewportSize() ?? PHONE;
  expect(await seriousFaults(page), form).toEqual([]);
  expect(await narrowTargets(page), form).toEqual([]);
  for (const size of ["as it is", "twice"]) {
    if (size === "twice") await enlarge(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), `${form} ${size}`).toBe(0);
    const isInReach = () =>
      page.evaluate(() => {
        const dock = document.querySelector(".dock");
        return dock?.classList.contains("tall") || (dock?.getBoundingClientRect().bottom ?? 0) <= innerHeight;
      });
    await expect.poll(isInReach, { message: `${form} ${size}` }).toBe(true);
    // Whole words: nothing that can be pressed is narrower than what stands on it.
    const cut = await page.evaluate(() =>
      Array.from(document.querySelectorAll(".dock button, dialog button"))
        .filter((button) => button.scrollWidth > button.clientWidth)
        .map((button) => button.textContent),
    );
    expect(cut, `${form} ${size}`).toEqual([]);
  }
  await page.setViewportSize(viewport);
  await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));
}

/** A phone's person sets the size of text, a computer's zooms the page. */
async function enlarge(page: Page): Promise<void> {
  const { width, height } = page.viewportSize() ?? PHONE;
  if (width > PHONE.width) await page.setViewportSize({ width: width / 2, height: height / 2 });
  else await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
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

/** What is to be pressed and is smaller than a finger. */
async function narrowTargets(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const pressed = document.querySelectorAll(".dock button, .over-lines a, dialog button");
    return Array.from(pressed)
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width < least || height < least;
      })
      .map((element) => element.outerHTML.slice(0, 120));
  }, TOUCH_PX);
}

async function picture(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await mkdir(FOLDER, { recursive: true });
  const image = await page.screenshot(IS_KEPT ? { path: `${FOLDER}${name}.png` } : {});
  expect(image.length).toBeGreaterThan(5_000);
}
