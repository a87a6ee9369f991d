import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { errorCodes } from "../api/errors.ts";
import { faultKinds } from "../api/admin.ts";
import { startTestCloud } from "../test/test-cloud.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
const [, table = ""] = /<!-- begin paths -->(.*)<!-- end paths -->/s.exec(readme) ?? [];
const documented = [...table.matchAll(/^\| `([A-Z]+) (\S+)` \| `([a-zA-Z.]+)` \|/gm)].map(
  ([, method = "", path = "", operation = ""]) => ({
    method,
    path,
    operation,
  }),
);

test("every path of the README exists and is the operation it says", async () => {
  await using cloud = await startTestCloud();
  expect(documented.length).toBeGreaterThan(20);
  await Promise.all(
    documented.map(async ({ method, path }) => {
      const response = await fetch(new URL(path, cloud.url), { method });
      expect([method, path, response.status]).toEqual([method, path, 401]);
    }),
  );
  const log = await cloud.admin.log(1000);
  const served = log.map(({ method, path, operation }) => `${method} ${path} ${operation}`);
  expect(served.toSorted()).toEqual(
    documented.map(({ method, path, operation }) => `${method} ${path} ${operation}`).toSorted(),
  );
});

test("every path of the API is in the README", async () => {
  const directory = new URL("./http/", import.meta.url);
  const files = (await readdir(directory)).filter((name) => name.endsWith(".ts"));
  const sources = await Promise.all(files.map(async (name) => readFile(new URL(name, directory), "utf8")));
  const paths = sources.flatMap((source) =>
    [...source.matchAll(/server\.(get|post|put|patch|delete)\(\s*["`](\/v1[^"`]*)["`]/g)].map(
      ([, method = "", path = ""]) => `${method.toUpperCase()} ${path}`,
    ),
  );
  const spelled = paths.flatMap((path) =>
    path.includes("${action}") ? ["start", "stop"].map((action) => path.replace("${action}", action)) : [path],
  );
  expect(spelled.toSorted()).toEqual(documented.map(({ method, path }) => `${method} ${path}`).toSorted());
});

test("every error code and every kind of fault is in the README", () => {
  const names = [...Object.keys(errorCodes), ...faultKinds];
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

test("the snippet of the README runs", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sim-"));
  const [, snippet = ""] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const code = snippet.replace("/tmp/simulated.sock", join(directory, "provider.sock"));
  const asserted = `${code}\nconsole.log("sidecar ended with", sidecar.process.exitCode);`;
  const args = ["--conditions=development", "--input-type=module-typescript", "--eval", asserted];
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 30_000 });
  expect(stdout).toBe("sidecar ended with 0\n");
  await rm(directory, { recursive: true });
});
