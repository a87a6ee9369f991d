import { defineConfig } from "vitest/config";

// Workspace packages resolve to their TypeScript sources: no build step stands between an edit and a test.
const conditions = ["development", "node"];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};
const ignored = ["**/node_modules/**", "**/dist/**", "**/bin/**"];

const project = (name: string, include: readonly string[], exclude: readonly string[], timeoutMs: number) => ({
  ...shared,
  test: {
    name,
    include: [...include],
    exclude: [...ignored, ...exclude],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    pool: "forks" as const,
  },
});

/** Suffixes that need more than one process: they belong to a project of their own. */
const heavier = [
  "**/*.component.test.ts",
  "**/*.integration.test.ts",
  "**/*.system.test.ts",
  "**/*.differential.test.ts",
];

export default defineConfig({
  test: {
    projects: [
      project("unit", ["**/*.test.ts"], heavier, 10_000),
      project("component", ["**/*.component.test.ts"], [], 60_000),
      project("integration", ["**/*.integration.test.ts"], [], 300_000),
      project("differential", ["**/*.differential.test.ts"], [], 300_000),
      project("system", ["**/*.system.test.ts"], [], 300_000),
    ],
  },
});
