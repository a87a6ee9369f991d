import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Methods of the interfaces that a provider in Go implements, as upstream declares them. */
async function upstreamMethods(): Promise<readonly string[]> {
  const cwd = join(ROOT, "provider-sdk/go/bridge");
  const args = ["list", "-m", "-f", "{{.Dir}}", "k8s.io/cloud-provider"];
  const { stdout } = await promisify(execFile)("go", args, { cwd });
  const source = await readFile(join(stdout.trim(), "cloud.go"), "utf8");
  const interfaces = [...source.matchAll(/^type (\w+) interface \{\n(.*?)^\}/gms)];
  return interfaces
    .filter(([, name]) => name !== "ControllerClientBuilder")
    .flatMap(([, , body = ""]) => [...body.matchAll(/^\t(\w+)\(/gm)].map(([, method = ""]) => method));
}

test("the guide from cloudprovider.Interface says of each of its methods where it goes", async () => {
  const methods = await upstreamMethods();
  const page = await readFile(join(ROOT, "docs/guides/from-cloudprovider-interface.md"), "utf8");
  expect(methods).toEqual(expect.arrayContaining(["InstanceMetadata", "EnsureLoadBalancer", "GetLabelsForVolume"]));
  expect(methods.filter((method) => !new RegExp(`\`[^\`]*\\b${method}\\b`).test(page))).toEqual([]);
});
