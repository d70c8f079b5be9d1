import { defineConfig } from "vitest/config";

const unit = {
  name: "unit",
  include: ["web/**/*.test.ts"],
  setupFiles: ["web/apps/phone/src/i18n/english.testing.ts"],
  testTimeout: 5_000,
};
const browser = {
  name: "browser",
  include: ["tests/web/**/*.test.ts"],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  retry: 1, // a browser on a crowded machine; vitest says so when it needed one
  globalSetup: "tests/web/chromium.ts",
};

/** Timings of the app are no tests: they run when they are asked for. */
const bench = { ...browser, name: "bench", include: ["bench/web/**/*.test.ts"], retry: 0 };
const isBench = process.env["REFLECTO_BENCH"] !== undefined;

export default defineConfig({
  test: {
    maxWorkers: 2, // each file of browser tests has a server: more at a time stand in each other's way
    sequence: { shuffle: true },
    projects: [{ test: unit }, { test: browser }, ...(isBench ? [{ test: bench }] : [])],
  },
});
