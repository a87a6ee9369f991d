import { describe, expect, test } from "vitest";
import { missingSettings } from "./process-settings.mjs";

describe("missingSettings()", () => {
  test("keeps flags and environment of a process that lacks the settings, and puts its own first", () => {
    expect(missingSettings({ execArgv: ["--inspect"], env: { HOME: "/root" } })).toEqual({
      execArgv: ["--max-semi-space-size=4", "--heap-growing-percent=50", "--inspect"],
      env: { HOME: "/root", MALLOC_ARENA_MAX: "1" },
    });
  });

  test("finds nothing missing in a process that was started with its answer", () => {
    const answer = missingSettings({ execArgv: [], env: {} });
    expect(missingSettings(answer ?? { execArgv: [], env: {} })).toBeUndefined();
  });

  test.each([
    { execArgv: ["--max-semi-space-size=8"], env: {} },
    { execArgv: ["--max_semi_space_size=8"], env: {} },
    { execArgv: [], env: { NODE_OPTIONS: "--enable-source-maps --max-semi-space-size=8" } },
  ])("leaves the flag of $execArgv and $env alone", ({ execArgv, env }) => {
    expect(missingSettings({ execArgv, env })).toEqual({
      execArgv: ["--heap-growing-percent=50", ...execArgv],
      env: { ...env, MALLOC_ARENA_MAX: "1" },
    });
  });

  test("keeps an environment variable that is already set", () => {
    expect(missingSettings({ execArgv: [], env: { MALLOC_ARENA_MAX: "4" } })).toEqual({
      execArgv: ["--max-semi-space-size=4", "--heap-growing-percent=50"],
      env: { MALLOC_ARENA_MAX: "4" },
    });
  });
});
