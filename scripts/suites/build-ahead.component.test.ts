import process from "node:process";
import { expect, test } from "vitest";
import { buildAhead } from "./build-ahead.ts";
import { run } from "../lib/run.ts";

test("buildAhead() ends with what it started, where there is nothing to build", async () => {
  await expect(buildAhead(["unit", "system"])).resolves.toBeUndefined();
});

test("what it starts knows the suites that need programs in Go", async () => {
  const path = { PATH: "/nonexistent" };
  const { output } = await run(
    process.execPath,
    ["--conditions=development", "scripts/suites/build-programs.ts", "languages"],
    {
      output: "keep",
      env: path,
    },
  );
  expect(output).toContain("go is not installed");
});
