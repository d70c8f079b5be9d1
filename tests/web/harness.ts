/** The real server, as a process of its own, and a real browser before it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, type BrowserContext, chromium, type Page, type Worker } from "playwright-core";
import { inject } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const REFLECTO = join(ROOT, ".venv/bin/reflecto");
const PYTHON = join(ROOT, ".venv/bin/python");
const NEW_OWNERS = join(ROOT, "tests/web/new_owners.py");
/** As many as a file has tests, and more. */
const OWNERS_AT_ONCE = 40;
/** A refused request is for the test to look at; test profiles count as incognito ones, which have no push. */
const EXPECTED = /Failed to load resource|does not support the Push API in incognito/;
/** As in the app's tap guard, and a little more. */
const GUARD_MS = 450;
export const WAIT_MS = 20_000;
export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says is what the test looks at
  body: any;
}

/** One server on a store of its own, for all tests of a file; each test founds an owner of its own. */
export class Server {
  readonly url: string;
  /** Where it is without a proxy: `url` is the public address. */
  readonly listening: string;
  readonly #process: ChildProcess;
  readonly #folder: string;
  #codes: string[] = [];

  private constructor(process: ChildProcess, folder: string, ready: { url: string; listening: string }) {
    this.#process = process;
    this.#folder = folder;
    this.url = ready.url;
    this.listening = ready.listening;
  }

  static async start(environment: Record<string, string> = {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "reflecto-web-"));
    const args = ["serve", "--port", "0", "--data", folder, "--json", "--log-level", "warning"];
    const env = { ...process.env, ...environment };
    const server = spawn(REFLECTO, args, { stdio: ["ignore", "pipe", "inherit"], env });
    const ready = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).once("line", resolve);
      server.once("exit", (code) => reject(new Error(`the server ended with ${code} before it was ready`)));
    });
    return new Server(server, folder, JSON.parse(ready));
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGTERM");
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async call(method: string, path: string, token: string, body?: object): Promise<Reply> {
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  }

  /** The link with which a phone founds an owner: a test is alone with it. */
  async newOwner(): Promise<string> {
    if (this.#codes.length === 0) {
      const { stdout } = await promisify(execFile)(PYTHON, [NEW_OWNERS, this.#folder, String(OWNERS_AT_ONCE)]);
      this.#codes = JSON.parse(stdout);
    }
    return `${this.url}/enroll#${this.#codes.pop()}`;
  }

  /** The link with which a further phone joins the one in `page`. */
  async invite(page: Page): Promise<string> {
    return (await this.call("POST", "/v1/invitations", await deviceToken(page))).body.url;
  }

  /** Asks, and returns the question's id. */
  async ask(token: string, question: object): Promise<string> {
    const { status, body } = await this.call("POST", "/v1/interactions", token, question);
    if (status !== 201) throw new Error(`asking gave ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  /** The question as its asker sees it, once it has ended. */
  async outcome(token: string, id: string): Promise<Reply["body"]> {
    return (await this.call("GET", `/v1/interactions/${id}?wait=8`, token)).body;
  }
}

/** A connection of its own to the browser all files share; closing it closes what was opened through it. */
export function launch(): Promise<Browser> {
  return chromium.connect(inject("chromium"));
}

export interface PhoneOptions {
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
  permissions?: string[];
  serviceWorkers?: "allow" | "block";
  locale?: string;
}

/** A fresh browser profile: a device of its own. Page errors and broken policies fail the test that looks at them. */
export async function newPhone(browser: Browser, options: PhoneOptions = {}) {
  const context = await browser.newContext({
    viewport: options.viewport ?? PHONE,
    colorScheme: options.colorScheme ?? "light",
    permissions: options.permissions ?? [],
    serviceWorkers: options.serviceWorkers ?? "allow",
    reducedMotion: "reduce",
    locale: options.locale ?? "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !EXPECTED.test(message.text())) problems.push(message.text());
  });
  return { context, page, problems };
}

/** From the link to the questions screen; returns the default token, or null for a phone that joined. */
export async function enrol(page: Page, link: string, label = "Pixel"): Promise<string | null> {
  await page.goto(link);
  await page.getByLabel("Name of this phone").fill(label);
  await page.getByRole("button", { name: "Pair", exact: true }).click();
  const notNow = page.getByRole("button", { name: "Not now" });
  const naming = page.getByRole("heading", { name: "What will send with this token?" });
  const copied = page.getByRole("button", { name: "I have copied it" });
  const questions = page.getByRole("heading", { name: "Questions", level: 1 });
  await notNow.or(naming).or(questions).first().waitFor();
  if (await notNow.isVisible()) await notNow.click();
  await naming.or(questions).first().waitFor();
  if (await naming.isVisible()) await nameToken(page);
  await copied.or(questions).first().waitFor();
  if (!(await copied.isVisible())) return null;
  const token = await page.locator(".secret code").first().textContent();
  await copied.click();
  await page.getByText("Live", { exact: true }).waitFor();
  return token;
}

/** Names the first token; what a test's questions come from is called Default. */
export async function nameToken(page: Page, name = "Default"): Promise<void> {
  await page.getByLabel("Its name").fill(name);
  await page.getByRole("button", { name: "Go on" }).click();
}

/** Has a sender ask, and take it back, so that its next question is not its first on the phone in `page`. */
export async function askOnce(server: Server, page: Page, token: string): Promise<void> {
  const id = await server.ask(token, { question: "Is anybody there?" });
  await page.waitForFunction(() => document.title.startsWith("("));
  await server.call("DELETE", `/v1/interactions/${id}`, token);
  await page.waitForFunction(() => document.title === "Reflecto");
}

/** Waits until a question is on the screen and its buttons take taps. */
export async function settle(page: Page, question: string): Promise<void> {
  await page.getByRole("heading", { name: question }).waitFor();
  await page.waitForFunction(
    ({ guard }) => {
      const marked = document.body as HTMLElement & { seenAt?: number };
      marked.seenAt ??= performance.now();
      const isOver = performance.now() - marked.seenAt > guard;
      if (isOver) delete marked.seenAt;
      return isOver;
    },
    { guard: GUARD_MS },
  );
}

/** The token with which the phone in `page` speaks to its server. */
export function deviceToken(page: Page | Worker): Promise<string> {
  return (page as Page).evaluate(async () => {
    const folder = new URL(".", location.href).pathname; // each folder at an origin has a database of its own
    const opening = indexedDB.open(folder === "/" ? "reflecto" : `reflecto ${folder}`);
    const database = await new Promise<IDBDatabase>((resolve) => {
      opening.onsuccess = () => resolve(opening.result);
    });
    const reading = database.transaction("facts").objectStore("facts").get("device");
    const device = await new Promise<{ deviceToken: string }>((resolve) => {
      reading.onsuccess = () => resolve(reading.result);
    });
    database.close();
    return device.deviceToken;
  });
}

export type { Browser, BrowserContext, Page };
