import { defineConfig } from "vitest/config";

const unit = { name: "unit", include: ["web/**/*.test.ts"], testTimeout: 5_000 };
const browser = {
  name: "browser",
  include: ["tests/web/**/*.test.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
};

export default defineConfig({
  test: {
    maxWorkers: 2, // browser tests start servers and a browser each: more at a time stand in each other's way
    sequence: { shuffle: true },
    projects: [{ test: unit }, { test: browser }],
  },
});
