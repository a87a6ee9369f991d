import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sdkVersion } from "./version.ts";

test("sdkVersion is the package's version", () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(manifest).toMatchObject({ version: sdkVersion });
});
