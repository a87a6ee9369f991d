import process from "node:process";
import { defineConfig } from "vitest/config";

const conditions = ["development", "node"];

/** Directories whose unit tests Stryker runs against each fault, set by main.ts. */
const directories = (process.env["CLOUDWIRE_MUTATION_DIRECTORIES"] ?? "controller/src").split(",");

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: directories.map((directory) => `${directory}/**/*.test.ts`),
    // Histories of whole controllers take seconds each, and the rules have tests of their own.
    exclude: [
      "**/node_modules/**",
      "**/controller.property.test.ts",
      "**/*.{component,integration,system,differential,parity}.test.ts",
    ],
    setupFiles: ["scripts/suites/mutation/fixed-seed.ts"],
    testTimeout: 10_000,
  },
});
