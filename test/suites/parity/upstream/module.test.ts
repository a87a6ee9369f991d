import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { parseUpstreamVersion, readUpstreamVersion, upstreamDir } from "./module.ts";

test("parseUpstreamVersion() reads the version that go.mod requires", () => {
  expect(parseUpstreamVersion("require (\n\tk8s.io/kubernetes v1.38.0-beta.0\n)\n")).toEqual({
    kubernetes: "1.38.0-beta.0",
    minor: "1.38",
  });
  expect(() => parseUpstreamVersion("require (\n)\n")).toThrow("requires no k8s.io/kubernetes");
});

test("upstream's go.mod replaces every staging module by that of its version", async () => {
  const { kubernetes } = await readUpstreamVersion();
  const staging = `v0.${kubernetes.split(".").slice(1).join(".")}`;
  const text = await readFile(path.join(upstreamDir, "go.mod"), "utf8");
  const replaced = [...text.matchAll(/ => (\S+) (\S+)$/gm)].map(([, , replacement]) => replacement);
  expect(new Set(replaced)).toEqual(new Set([staging]));
});
