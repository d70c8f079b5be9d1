import { defineConfig } from "vitest/config";

const unit = { name: "unit", include: ["web/**/*.test.ts"], testTimeout: 5_000 };
// Each file starts servers and browsers: one after the other, or two cores are not enough for any of them.
const browser = {
  name: "browser",
  include: ["tests/web/**/*.test.ts"],
  testTimeout: 30_000,
  hookTimeout: 30_000,
  fileParallelism: false,
};

export default defineConfig({
  test: {
    sequence: { shuffle: true },
    projects: [{ test: unit }, { test: browser }],
  },
});
