import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { fetchPage, freePort } from "../../../support/secure-page.ts";
import { shareWithContainers } from "../support/containers.ts";
import { eachHarness } from "../support/each-harness.ts";
import type { Harness } from "../support/harness.ts";

const SETTLED_MS = 60_000;
const DIRECTORY = "cloudwire-support-bundle";
/** Of no account of the cloud. */
const WRONG_KEY = "key-that-must-stay-secret";

let harness: Harness;
let directory: string;

eachHarness((fresh) => {
  harness = fresh;
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "bundle-"));
  await shareWithContainers(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** An administrator's way to the controller at a port. */
async function connection(port: number): Promise<readonly string[]> {
  const { path, client } = await harness.controlPlane.kubeconfigFor("root", ["system:masters"]);
  const files = { certificate: join(directory, "client.pem"), key: join(directory, "client.key") };
  await writeFile(files.certificate, client.certificate);
  await writeFile(files.key, client.key, { mode: 0o600 });
  await eventually("client certificates to be believed", SETTLED_MS, async () =>
    (await fetchPage(port, "/metrics", client)).status === 200 ? true : undefined,
  );
  return [
    `--server=https://127.0.0.1:${port}`,
    "--insecure-skip-tls-verify",
    `--client-certificate=${files.certificate}`,
    `--client-key=${files.key}`,
    `--kubeconfig=${path}`,
  ];
}

/** The text of an archive; its files are in it as they are. */
const textOf = async (path: string) => gunzipSync(await readFile(path)).toString("utf8");

/** The manifest stands first. */
function manifestOf(text: string): Json {
  const start = text.indexOf("{\n");
  const manifest: Json = JSON.parse(text.slice(start, text.indexOf("\n}\n", start) + 3));
  return manifest;
}

test("a support bundle of a controller whose cloud refuses it has all there is, and says why, and no key", async () => {
  await harness.startSidecar({ apiKey: WRONG_KEY });
  const port = await freePort();
  const audit = join(directory, "audit.log");
  const recording = join(directory, "provider.rec");
  const serving = [`--secure-port=${port}`, "--bind-address=127.0.0.1"];
  const controller = harness.startController({
    args: [...serving, `--audit-log-path=${audit}`, `--record-provider=${recording}`],
  });
  await controller.said(/Became leader/);
  await harness.registerNode("left-alone-1");
  await harness.kube.create("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "annotated", annotations: { "example.com/cloud-password": WRONG_KEY } },
    spec: { ports: [{ port: 8396 }] },
  });
  const file = join(directory, "bundle.tar.gz");
  const given = [`--file=${file}`, "--objects", `--audit-log=${audit}`, `--recording=${recording}`];
  await using program = new Program({
    source: "cli/src/main.ts",
    args: ["support-bundle", ...given, ...(await connection(port))],
  });
  expect({ ...(await program.exit(SETTLED_MS)), output: program.output }).toMatchObject({ code: 0 });
  const text = await textOf(file);
  const manifest = manifestOf(text);
  expect(manifest).toMatchObject({ format: "cloudwire.support-bundle", unavailable: [] });
  const names = listOf(manifest["files"]).map(({ name }) => String(name));
  expect(names).toEqual(names.toSorted());
  expect(names).toEqual(
    expect.arrayContaining([
      "configuration/configz.json",
      "configuration/flagz.txt",
      "files/audit-log-1.jsonl",
      "files/recording-1.rec",
      "health/readyz.txt",
      "metrics/metrics.txt",
      "objects/nodes.json",
      "objects/services.json",
      "state/controllers/service-lb-controller.json",
      "state/overview.json",
      "state/plans.json",
      "state/providers.json",
      "version.json",
    ]),
  );
  expect(text).toContain(`${DIRECTORY}/state/providers.json`);
  expect(text).toContain("CredentialsRefused");
  expect(text).toContain('"example.com/cloud-password": "[redacted]"');
  expect(text).not.toContain(WRONG_KEY);
  expect(at(manifest, "controller")).toBe(`https://127.0.0.1:${port}`);
});
