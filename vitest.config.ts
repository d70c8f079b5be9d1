import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["web/**/*.test.ts"],
          sequence: { shuffle: true },
          testTimeout: 5_000,
        },
      },
    ],
  },
});
