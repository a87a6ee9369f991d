import { describe, expect, test } from "vitest";
import { missingPlatformPackages } from "./lockfile.ts";

describe("missingPlatformPackages()", () => {
  test.each([
    ["@biomejs/cli-darwin-arm64", { cpu: ["arm64"], os: ["darwin"] }],
    ["@biomejs/cli-linux-x64-musl", { cpu: ["x64"], libc: ["musl"], os: ["linux"] }],
    ["@bufbuild/buf-linux-armv7", { cpu: ["arm"], libc: ["glibc"], os: ["linux"] }],
    ["@oxlint-tsgolint/win32-x64", { cpu: ["x64"], os: ["win32"] }],
    ["@oxlint/binding-linux-arm-musleabihf", { cpu: ["arm"], libc: ["musl"], os: ["linux"] }],
  ])("writes the entry of %s", (name, platform) => {
    const locked = { "node_modules/tool": { dev: true, optionalDependencies: { [name]: "1.2.3" } } };
    expect(missingPlatformPackages(locked)).toEqual({
      [`node_modules/${name}`]: { version: "1.2.3", dev: true, optional: true, ...platform },
    });
  });

  test("adds nothing for a package that is there, beside the one that wants it or above", () => {
    const optionalDependencies = { "a-linux-x64": "1.0.0", "b-linux-x64": "1.0.0", "c-linux-x64": "1.0.0" };
    const locked = {
      "": { optionalDependencies: { "c-linux-x64": "1.0.0" } },
      "node_modules/tool/node_modules/inner": { optionalDependencies },
      "node_modules/tool/node_modules/inner/node_modules/a-linux-x64": { version: "1.0.0" },
      "node_modules/tool/node_modules/b-linux-x64": { version: "1.0.0" },
      "node_modules/c-linux-x64": { version: "1.0.0" },
    };
    expect(missingPlatformPackages(locked)).toEqual({});
  });

  test.each([
    ["a name without a platform", "fsevents", "1.0.0"],
    ["a range, which names no version", "a-linux-x64", "^1.0.0"],
  ])("refuses to guess from %s", (_sentence, name, version) => {
    const locked = { "node_modules/tool": { optionalDependencies: { [name]: version } } };
    expect(() => missingPlatformPackages(locked)).toThrow(`node_modules/tool wants ${name}@${version}`);
  });
});
