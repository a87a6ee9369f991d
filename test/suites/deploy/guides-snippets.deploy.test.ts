import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { buildControlPlane, type ControlPlane, readVersion, startControlPlane } from "@cloudwire/control-plane";
import { CHART, helm } from "@cloudwire/deploy/chart";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Block, readGuides } from "../guides/blocks.ts";
import { at, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { KUBEADM_READER } from "./support/kubeadm-reader.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MINUTE_MS = 60_000;

/** What is a file of some program, and no object of the API. */
const OF_PROGRAM = /^apiVersion: (?:[a-z.]*config|kubeadm)\.k8s\.io\//m;
const OF_KUBEADM = /^apiVersion: (?:kubeadm|kubelet\.config)\.k8s\.io\//m;
const OF_CONTROLLER = /^apiVersion: cloudcontrollermanager\.config\.k8s\.io\//m;
const OF_CHART = /^(?:apiServer|config|kind: StaticPod|name|providers|statusPage):/m;

let controlPlane: ControlPlane;
let directory: string;
let yaml: readonly Block[];

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  directory = await mkdtemp(join(tmpdir(), "guides-"));
  yaml = (await readGuides()).filter(({ language }) => language === "yaml");
}, 60 * MINUTE_MS);
afterAll(async () => {
  await controlPlane.stop();
  await rm(directory, { recursive: true, force: true });
});

const withText = (isWanted: (text: string) => boolean): readonly Block[] => yaml.filter(({ text }) => isWanted(text));
const isObject = (text: string): boolean => /^kind: [A-Z]/m.test(text) && !OF_PROGRAM.test(text);

describe("the guides", () => {
  test("have no manifest that the API server would refuse", async () => {
    const manifests = withText(isObject).map(({ text }) => text.replaceAll("CA_BUNDLE", "Q0E="));
    const args = ["apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-"];
    const applied: unknown = JSON.parse(await controlPlane.kubectl(args, { input: manifests.join("\n---\n") }));
    expect(listOf(at(applied, "items")).map((item) => at(item, "kind"))).toEqual(
      expect.arrayContaining(["ServiceAccount", "ClusterRole", "Role", "Secret", "Service", "ResourceQuota"]),
    );
  });

  test("have no values that the chart would refuse", async () => {
    const blocks = withText((text) => OF_CHART.test(text) && !/^(?:apiVersion|spec):/m.test(text));
    expect(blocks.map(({ page }) => page)).toEqual(
      expect.arrayContaining(["docs/guides/bootstrap.md", "docs/guides/hybrid-clusters.md"]),
    );
    const rendered = await Promise.all(blocks.map((block) => rendersDeployment(block)));
    expect(rendered).toEqual(blocks.map(() => true));
  });

  test("have no configuration that the controller would refuse", async () => {
    const blocks = withText((text) => OF_CONTROLLER.test(text));
    expect(blocks).not.toEqual([]);
    for (const [index, { page, text }] of blocks.entries()) {
      const path = join(directory, `config-${index}.yaml`);
      await writeFile(path, text);
      await using program = new Program({
        source: "controller/src/main.ts",
        args: [`--config=${path}`, `--kubeconfig=${directory}/none`],
      });
      const { code } = await program.exit(MINUTE_MS);
      // The settings are right: what stops it is that there is no cluster.
      expect({ page, code, output: program.output }).toEqual({
        page,
        code: 1,
        output: expect.stringContaining("cannot read kubeconfig"),
      });
    }
  });

  test("have no configuration that kubeadm or a kubelet would refuse", async () => {
    const blocks = withText((text) => OF_KUBEADM.test(text));
    const program = await buildKubeadmReader();
    const read = async (text: string): Promise<string> => {
      const path = join(directory, "kubeadm.yaml");
      await writeFile(path, text);
      return (await promisify(execFile)(program, [path])).stdout;
    };
    const kinds: string[] = [];
    for (const { text } of blocks) kinds.push(...(await read(text)).trim().split("\n"));
    expect(kinds).toEqual(["InitConfiguration", "ClusterConfiguration", "KubeletConfiguration", "JoinConfiguration"]);
    await expect(
      read("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncloudProvider: external\n"),
    ).rejects.toThrow('unknown field "cloudProvider"');
  });
});

async function rendersDeployment({ page, text }: Block): Promise<boolean> {
  // A page shows the values that it is about; a provider is what every pod needs.
  const acme = /^providers:/m.test(text) ? [] : ["--set-json", 'providers=[{"name": "acme"}]'];
  const args = ["template", "ccm", CHART, "--namespace=kube-system", "--values=-", ...acme];
  const objects = await helm(args, { input: text }).catch((cause: unknown) =>
    Promise.reject(new Error(`${page}:\n${text}`, { cause })),
  );
  return /^kind: Deployment$/m.test(objects);
}

/** The types of kubeadm and the kubelet, of the module that the control plane is built of. */
async function buildKubeadmReader(): Promise<string> {
  const { modfile } = await readVersion();
  const module = join(ROOT, "test/control-plane");
  await copyFile(join(module, modfile), join(directory, "go.mod"));
  await copyFile(join(module, modfile.replace(/mod$/, "sum")), join(directory, "go.sum"));
  await writeFile(join(directory, "main.go"), KUBEADM_READER);
  await promisify(execFile)("go", ["build", "-o", "kubeadm-reader", "."], { cwd: directory });
  return join(directory, "kubeadm-reader");
}

test("kube-apiserver and kube-controller-manager accept of the removed cloud flags what the guides say", async () => {
  const { minor } = await readVersion();
  const complaintOf = async (program: string, flag: string): Promise<string> => {
    await using process = new Program({
      command: join(ROOT, `test/control-plane/bin/${minor}`, program),
      args: [flag],
    });
    await process.exit(MINUTE_MS);
    return process.output;
  };
  expect(await complaintOf("kube-apiserver", "--cloud-provider=external")).toContain("unknown flag: --cloud-provider");
  expect(await complaintOf("kube-apiserver", "--enable-admission-plugins=PersistentVolumeLabel")).toContain(
    'plugin \\"PersistentVolumeLabel\\" is unknown',
  );
  expect(await complaintOf("kube-controller-manager", "--cloud-provider=aws")).toContain(
    "built-in cloud providers are disabled",
  );
});
