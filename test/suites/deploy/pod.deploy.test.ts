import { chown, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { type KubernetesObject, renderChart } from "@cloudwire/deploy/chart";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, listOf } from "../../support/kube.ts";
import { fetchPage, freePort } from "../../support/secure-page.ts";
import { NON_ROOT } from "../system/support/containers.ts";
import { LEASE } from "../system/support/lease.ts";
import { controllerKubeconfig } from "../system/support/rights.ts";
import { API_KEY, Harness } from "../system/support/harness.ts";
import { buildOwnImages, VERSION } from "./support/images.ts";
import { Podman, statusOf } from "./support/podman.ts";
import { podsOf } from "./support/pods.ts";

const POD = "cloud-controller-manager";
const CONTAINERS = ["controller", "simulated"];
const WAIT_MS = 60_000;

let directory: string;
let podman: Podman;
let controlPlane: ControlPlane;
let harness: Harness;
let kubeconfig: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "pod-"));
  const layout = join(directory, "images");
  await buildOwnImages(layout, "controller", "simulated");
  podman = await Podman.create();
  const [controller] = await Promise.all(
    ["controller-manager", "provider-simulated"].map((name) => podman.load(layout, `cloudwire-${name}:${VERSION}`)),
  );
  await podman.makePause(controller ?? "");
  await buildControlPlane();
  controlPlane = await startControlPlane({});
  harness = await Harness.start(controlPlane);
  kubeconfig = join(directory, "kubeconfig");
  await copyFile(await controllerKubeconfig(controlPlane), kubeconfig);
  await chown(kubeconfig, NON_ROOT, NON_ROOT);
}, 60 * 60_000);
afterEach(async () => {
  await podman.run("pod", "rm", "--all", "--force", "--time=0");
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await controlPlane.stop();
  await podman[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

interface Started {
  readonly port: number;
  readonly manifest: string;
}

/** The chart's pod, as an operator renders it for podman, played. */
async function play(kind: "StaticPod" | "Deployment"): Promise<Started> {
  const port = await freePort();
  const objects = await renderChart({
    values: {
      kind,
      nativeSidecars: false,
      image: { registry: "localhost", pullPolicy: "Never" },
      kubeconfig: { hostPath: kubeconfig },
      config: { Generic: { Port: port } },
      extraArgs: ["-v=4"],
      providers: [
        {
          name: "simulated",
          httpPort: await freePort(),
          env: [
            { name: "SIMCLOUD_URL", value: harness.cloudUrl },
            { name: "SIMCLOUD_API_KEY", value: API_KEY },
          ],
        },
      ],
    },
  });
  const manifest = join(directory, `${kind}.yaml`);
  const played = [...objects.filter((object) => object.kind === "ConfigMap"), podIn(objects)];
  await writeFile(manifest, played.map((object) => JSON.stringify(object)).join("\n---\n"));
  await podman.run("kube", "play", manifest);
  return { port, manifest };
}

/** The Pod, or the one that a Deployment makes. */
function podIn(objects: readonly KubernetesObject[]): object {
  const [pod] = podsOf(objects.filter(({ kind }) => kind === "Pod" || kind === "Deployment"));
  if (pod === undefined) throw new Error("the chart rendered no pod");
  // podman before its version 5 takes no ports in the host's network, where they say nothing that the program does not do.
  const containers = listOf(at(pod.spec, "containers")).map((container) => ({ ...container, ports: [] }));
  return { apiVersion: "v1", kind: "Pod", metadata: { name: POD }, spec: { ...Object(pod.spec), containers } };
}

const inspect = async (container: string, format: string): Promise<string> =>
  (await podman.run("inspect", `--format=${format}`, `${POD}-${container}`)).trim();

const logs = async (): Promise<string> =>
  (await Promise.all(CONTAINERS.map((container) => podman.logs(`${POD}-${container}`)))).join("\n----\n");

describe.each(["StaticPod", "Deployment"] as const)("the chart's pod of a %s, run by podman", (kind) => {
  const name = kind.toLowerCase();

  test("initializes nodes, gives a Service its address, and ends on request", async () => {
    const { port, manifest } = await play(kind);
    try {
      await eventually("the pod to be ready", WAIT_MS, async () => {
        const page = await fetchPage(port, "/readyz").catch(() => undefined);
        return page?.status === 200 ? page : undefined;
      });

      await harness.createMachines([{ name: `node-${name}`, zone: "north-a", type: "medium" }]);
      await harness.registerNode(`node-${name}`);
      const node = await harness.initialized(`node-${name}`, WAIT_MS);
      expect(at(node, "metadata", "labels")).toMatchObject({
        "node.kubernetes.io/instance-type": "medium",
        "topology.kubernetes.io/zone": "north-a",
      });
      await harness.createService(`web-${name}`, kind === "StaticPod" ? 8080 : 8081);
      expect(await harness.addressed(`web-${name}`, WAIT_MS)).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect((await harness.loadBalancers()).length).toBeGreaterThan(0);

      for (const container of CONTAINERS) {
        expect(await inspect(container, "{{.Config.User}} {{.HostConfig.ReadonlyRootfs}}")).toBe("65532:65532 true");
        expect(await inspect(container, "{{.EffectiveCaps}} {{.RestartCount}}")).toBe("[] 0");
        expect(await statusOf(await inspect(container, "{{.State.Pid}}"))).toMatchObject({
          CapBnd: "0000000000000000",
          NoNewPrivs: "1",
        });
      }

      expect(at(await harness.kube.get(LEASE), "spec", "holderIdentity")).not.toBe("");
      await podman.run("pod", "stop", "--time=45", POD);
      expect(await Promise.all(CONTAINERS.map((container) => inspect(container, "{{.State.ExitCode}}")))).toEqual([
        "0",
        "0",
      ]);
      // Handed back, so that the next one need not wait for it to expire.
      expect(at(await harness.kube.get(LEASE), "spec", "holderIdentity") ?? "").toBe("");
      await podman.run("kube", "down", manifest);
      expect(await podman.run("ps", "--all", "--quiet")).toBe("");
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${await logs().catch(String)}`, {
        cause: error,
      });
    }
  });
});
