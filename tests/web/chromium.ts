/** One browser for all test files: a start costs more than most tests do. */

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP reflecto.test 127.0.0.1",
];

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the browser listens. */
    chromium: string;
  }
}

/** CHROMIUM names another one; a missing browser fails the tests, it never skips them. */
function browserPath(): string {
  const path = process.env["CHROMIUM"] ?? BROWSERS.find((candidate) => existsSync(candidate));
  if (!path) throw new Error("no Chromium found: `apt-get install chromium`, or name one with CHROMIUM=/path/to/it");
  return path;
}

export default async function startBrowser({ provide }: TestProject) {
  const browser = await chromium.launchServer({ executablePath: browserPath(), args: FLAGS, host: "127.0.0.1" });
  provide("chromium", browser.wsEndpoint());
  return () => browser.close();
}
