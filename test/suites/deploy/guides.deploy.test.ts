import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildControlPlane, type ControlPlane, readVersion, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readBlocks } from "../guides/blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { at } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { fetchPage } from "../../support/secure-page.ts";
import { startPodProcesses } from "./support/pod-processes.ts";
import { containersOf } from "./support/pods.ts";
import { Registry } from "./support/registry.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MINUTE_MS = 60_000;
const PODS = [
  "-n",
  "kube-system",
  "get",
  "pods",
  "-l",
  "app.kubernetes.io/name=cloud-controller-manager",
  "-o",
  "json",
];

let controlPlane: ControlPlane;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane({
    scheduler: true,
    serviceAccountTokens: true,
    // The Node's lease is not renewed, because its kubelet is stopped.
    controllerManager: { controllers: ["*", "-node-lifecycle-controller"] },
  });
}, 60 * MINUTE_MS);
afterAll(() => controlPlane.stop());

/** As the page has them, one after the other in one shell. */
const commandsOf = async (page: string): Promise<string> =>
  (await readBlocks(page))
    .filter(({ words }) => words.includes("quick-start"))
    .map(({ text }) => text)
    .join("\n");

/** Where Debian has replaced packages and its archive of the past cannot be had, a reader does what the build then says. */
const withAdvice = (commands: string): string =>
  commands.replace(
    /^npm run images -- .*$/m,
    (build) => `${build} || { npm run images -- --update-lock && ${build}; }`,
  );

/** What the reader has: an empty directory, programs, a cluster, the two addresses. */
async function reader(directory: string, commands: string, registry: Registry): Promise<Program> {
  const { minor } = await readVersion();
  const programs = [join(ROOT, "test/programs/helm/bin"), join(ROOT, `test/control-plane/bin/${minor}`)];
  return new Program({
    command: "bash",
    args: ["-euxo", "pipefail", "-c", `cd "$0"\n${commands}`, directory],
    env: {
      PATH: [...programs, process.env["PATH"]].join(delimiter),
      KUBECONFIG: controlPlane.adminKubeconfig.path,
      CLOUDWIRE: ROOT,
      ...registry.env,
      REGISTRY: `${registry.address}/cloudwire`,
      // Anyone who runs the tests may not own the checkout.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    },
  });
}

/** Waits until the readiness probe of the pod is content. */
async function ready(pod: unknown, state: () => string): Promise<void> {
  const [probe] = containersOf(pod).flatMap((container) => at(container, "readinessProbe", "httpGet") ?? []);
  await eventually(
    "the pod to be ready",
    MINUTE_MS,
    async () => {
      const page = await fetchPage(Number(at(probe, "port")), String(at(probe, "path"))).catch(() => undefined);
      return page?.status === 200 ? true : undefined;
    },
    state,
  );
}

test(
  "the quick start works word for word, from an empty directory",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "quick-start-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    // A kubelet registers its Node. The containers that it would only pretend to start are then run by the test in its place.
    await controlPlane.startHollowNode("quick-start");
    await controlPlane.stopHollowNode("quick-start");
    await controlPlane.kubectl(["label", "node", "quick-start", "node-role.kubernetes.io/control-plane="]);

    await using registry = await Registry.start(join(directory, "registry"));
    await mkdir(join(directory, "reader"));
    await using shell = await reader(
      join(directory, "reader"),
      withAdvice(await commandsOf("docs/guides/quick-start.md")),
      registry,
    );
    const pod = await eventually(
      "a pod on the Node",
      10 * MINUTE_MS,
      async () => {
        if (!shell.running) throw new Error(`the guide ended early:\n${shell.output}`);
        const { items }: { items: readonly object[] } = JSON.parse(await controlPlane.kubectl(PODS));
        return items.find((item) => at(item, "spec", "nodeName") === "quick-start");
      },
      () => shell.output,
    );
    for (const { image } of containersOf(at(pod, "spec")))
      expect(Object.keys(await registry.platforms(String(image)))).toEqual(["linux/amd64", "linux/arm64"]);
    const containers = await startPodProcesses(at(pod, "spec"), {
      controlPlane,
      namespace: "kube-system",
      directory: join(directory, "pod"),
    });
    onTestFinished(async () => {
      await Promise.all(containers.map((container) => container[Symbol.asyncDispose]()));
    });
    await ready(at(pod, "spec"), () => `${shell.output}\n${containers.map(({ output }) => output).join("\n")}`);
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    const name = String(at(pod, "metadata", "name"));
    const patch = ["patch", "pod", name, "--subresource=status", "--patch", JSON.stringify({ status })];
    await controlPlane.kubectl(["-n", "kube-system", ...patch]);

    const { code } = await shell.exit(5 * MINUTE_MS);
    expect(code, `${shell.output}\n${containers.map(({ output }) => output).join("\n")}`).toBe(0);
    expect(shell.output).toMatch(/^Ready after /m);
    expect(shell.output).toMatch(/^quick-start +sim:\/\/north-a\/\S+ +(?!.*uninitialized)/m);
    expect(shell.output).toMatch(/^web +LoadBalancer +\S+ +127\.20\.0\.\d+ /m);
    expect(await controlPlane.kubectl(["get", "service", "web", "--ignore-not-found"])).toBe("");
  },
  17 * MINUTE_MS,
);
