import { readFile } from "node:fs/promises";
import path from "node:path";
import { readVersion } from "@cloudwire/control-plane";
import { expect, test } from "vitest";
import { upstreamDir } from "./module.ts";

test("upstream's go.mod has the controllers of the control plane's default version", async () => {
  const { kubernetes } = await readVersion();
  const staging = `v0.${kubernetes.split(".").slice(1).join(".")}`;
  const text = await readFile(path.join(upstreamDir, "go.mod"), "utf8");
  expect(text).toContain(`\tk8s.io/kubernetes v${kubernetes}\n`);
  const replaced = [...text.matchAll(/ => (\S+) (\S+)$/gm)].map(([, , replacement]) => replacement);
  expect(new Set(replaced)).toEqual(new Set([staging]));
});
