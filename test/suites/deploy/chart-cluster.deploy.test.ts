import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import {
  CHART,
  helm,
  type KubernetesObject,
  renderChart,
  type RenderOptions,
  valueArgs,
} from "@cloudwire/deploy/chart";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at, type Json, listOf } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { freePort } from "../../support/secure-page.ts";
import { Harness } from "../system/support/harness.ts";
import { CHART_CASES } from "./support/chart-cases.ts";
import { containersOf, podsOf } from "./support/pods.ts";

const WAIT_MS = 90_000;
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const OURS = "app.kubernetes.io/instance=cloudwire";
const NODES = ["first", "second"];
/** What a cluster makes by itself, at any time. */
const COMES_AND_GOES = new Set(["events", "events.events.k8s.io", "leases.coordination.k8s.io"]);

let cluster: ControlPlane;
/** Names of all kinds of objects that can be listed. */
let kinds: string;

beforeAll(async () => {
  await buildControlPlane();
  cluster = await startControlPlane({ scheduler: true, controllerManager: true, serviceAccountTokens: true });
  await Promise.all(
    NODES.map((name) => cluster.startHollowNode(name, { taints: [{ key: CONTROL_PLANE, effect: "NoSchedule" }] })),
  );
  await cluster.kubectl(["label", "node", ...NODES, `${CONTROL_PLANE}=`]);
  const listed = await cluster.kubectl(["api-resources", "--verbs=list", "-o", "name"]);
  kinds = listed
    .trim()
    .split("\n")
    .filter((name) => !COMES_AND_GOES.has(name))
    .join(",");
}, 60 * 60_000);
afterAll(async () => {
  await cluster.stop();
});

const items = async (kind: string, namespace: string, selector = OURS): Promise<readonly Json[]> =>
  listOf(at(JSON.parse(await cluster.kubectl(["get", kind, "-n", namespace, "-l", selector, "-o", "json"])), "items"));

const everything = async (): Promise<readonly string[]> =>
  (
    await cluster.kubectl([
      "get",
      kinds,
      "-A",
      "--ignore-not-found",
      "-o",
      'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}',
    ])
  )
    .trim()
    .split("\n");

const apply = async (objects: readonly KubernetesObject[], ...args: readonly string[]): Promise<string> =>
  cluster.kubectl(["apply", "--validate=strict", ...args, "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
  });

/** A namespace whose pods, and those that are only tried, have to be of a Pod Security level. */
const makeNamespace = async (name: string, level = "privileged"): Promise<void> => {
  await apply([
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { "pod-security.kubernetes.io/enforce": level } },
    },
  ]);
};

const install = async (verb: "install" | "upgrade", options: RenderOptions): Promise<string> =>
  helm([verb, "cloudwire", CHART, ...valueArgs(options)], {
    input: JSON.stringify(options.values ?? {}),
    env: { KUBECONFIG: cluster.kubeconfigPath },
  });

const strings = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const pods = async (): Promise<readonly Json[]> => items("pods", "kube-system");

describe("helm", () => {
  afterAll(async () => {
    await Promise.all(NODES.map((name) => cluster.stopHollowNode(name)));
  });

  const values = { providers: [{ name: "acme" }] };

  test("installs, upgrades and uninstalls, and leaves nothing behind", async () => {
    const before = await everything();
    expect(await install("install", { values })).toContain(
      "runs as a Deployment in namespace kube-system, with a sidecar for acme.",
    );

    // On nodes that wait for this very pod, each replica on a node of its own.
    const running = await eventually("two pods to run", WAIT_MS, async () => {
      const found = await pods();
      const isRunning = found.length === 2 && found.every((pod) => at(pod, "status", "phase") === "Running");
      return isRunning ? found : undefined;
    });
    expect(running.map((pod) => String(at(pod, "spec", "nodeName"))).toSorted()).toEqual(NODES);
    const taints = await cluster.kubectl(["get", "nodes", "-o", "jsonpath={.items[*].spec.taints[*].key}"]);
    expect(taints.split(" ").filter((key) => key === UNINITIALIZED)).toHaveLength(NODES.length);
    expect(running.map((pod) => at(pod, "spec", "priority"))).toEqual([2_000_000_000, 2_000_000_000]);

    const uids = async (): Promise<readonly string[]> =>
      (await pods()).map((pod) => String(at(pod, "metadata", "uid"))).toSorted();
    const generation = async (): Promise<unknown> =>
      at((await items("deployments", "kube-system"))[0], "metadata", "generation");
    const first = await uids();
    await install("upgrade", {
      values: { ...values, config: { Cloudwire: { NodeDeletionConfirmationPeriod: "45s" } } },
    });
    const config = String(at((await items("configmaps", "kube-system"))[0], "data", "config.yaml"));
    expect(config).toContain("NodeDeletionConfirmationPeriod: 45s");
    expect([await generation(), await uids()]).toEqual([1, first]);

    await install("upgrade", { values: { ...values, config: { Cloudwire: { LoggingFormat: "json" } } } });
    expect(await generation()).toBe(2);
    await eventually("a new pod", WAIT_MS, async () =>
      (await uids()).some((uid) => !first.includes(uid)) ? true : undefined,
    );

    await helm(["uninstall", "cloudwire", "--namespace=kube-system", "--wait"], {
      env: { KUBECONFIG: cluster.kubeconfigPath },
    });
    await eventually(
      "everything to be gone",
      WAIT_MS,
      async () => {
        const left = (await everything()).filter((name) => !before.includes(name));
        return left.length === 0 ? true : undefined;
      },
      async () => everything(),
    );
  });
});

describe("the API server", () => {
  test.each(Object.entries(CHART_CASES))("takes %s, and its pods", async (name, options) => {
    const namespace = `case-${Object.keys(CHART_CASES).indexOf(name)}`;
    await makeNamespace(namespace);
    const objects = await renderChart({ ...options, namespace });
    await apply(objects, "--dry-run=server");
    await apply(objects);
    const [main] = podsOf(objects).filter(({ of }) => !of.endsWith("-installed"));
    expect(main).toBeDefined();
    const made = await eventually(
      "a pod",
      WAIT_MS,
      async () => {
        const found = (await items("pods", namespace)).filter(
          (pod) => !String(at(pod, "metadata", "name")).endsWith("-installed"),
        );
        return found[0];
      },
      async () => cluster.kubectl(["get", "events", "-n", namespace]),
    );
    // As it was rendered: nothing was put into it, such as a token for every container.
    expect(listOf(at(made, "spec", "volumes"))).toHaveLength(listOf(at(main?.spec, "volumes")).length);
  });
});

describe("Pod Security", () => {
  /** The first pod that the chart renders, as one to be made by itself. */
  const podOf = async (options: RenderOptions): Promise<KubernetesObject> => {
    const [pod] = podsOf(await renderChart(options)).filter(({ of }) => !of.endsWith("-installed"));
    const { metadata, ...rest } = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "tried", namespace: options.namespace ?? "" },
      spec: pod?.spec,
    };
    return { ...rest, metadata };
  };

  test("restricted admits what does not run in the host's network", async () => {
    await makeNamespace("restricted", "restricted");
    const options = { ...CHART_CASES["the pod network"], namespace: "restricted" };
    await apply(await renderChart(options));
    const made = await eventually("two replicas and the pod of helm test", WAIT_MS, async () => {
      const found = await items("pods", "restricted");
      return found.length === 3 ? found : undefined;
    });
    expect(made.map((pod) => at(pod, "spec", "hostNetwork"))).toEqual([undefined, undefined, undefined]);
  });

  test("restricted finds nothing but the host's network in what runs there", async () => {
    await makeNamespace("hosted", "restricted");
    const options = { ...CHART_CASES["a Deployment"], namespace: "hosted" };
    await apply((await renderChart(options)).filter(({ kind }) => kind === "ServiceAccount"));
    await expect(apply([await podOf(options)], "--dry-run=server")).rejects.toThrow(
      /violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\), hostPort \([^)]*\), probe or lifecycle host \([^)]*\)"?$/,
    );
  });
});

describe("helm test", () => {
  test("says whether the replicas can do their work", async () => {
    await using harness = await Harness.start(cluster);
    const port = await freePort();
    const [pod] = podsOf(await renderChart(CHART_CASES["a Deployment"])).filter(({ of }) => of.endsWith("-installed"));
    const [container] = containersOf(pod?.spec);
    const [, ...before] = strings(at(container, "command"));
    const args = [...before, ...strings(at(container, "args"))];
    const tested = async (patienceMs: number): Promise<readonly [number | null, string]> => {
      const env = { HOST: "127.0.0.1", PORT: String(port), PATIENCE_MS: String(patienceMs) };
      await using program = new Program({ command: process.execPath, args, env });
      const { code } = await program.exit(WAIT_MS);
      return [code, program.output];
    };
    expect(await tested(1)).toEqual([1, expect.stringContaining(`127.0.0.1:${port} does not answer`)]);
    harness.startController({ args: [`--secure-port=${port}`, "--bind-address=127.0.0.1"] });
    const [code, output] = await eventually("the controller to answer", WAIT_MS, async () => {
      const outcome = await tested(1);
      return outcome[1].includes("does not answer") ? undefined : outcome;
    });
    expect([code, output]).toEqual([1, expect.stringContaining("127.0.0.1 is not ready")]);
    await harness.startSidecar();
    expect(await tested(WAIT_MS)).toEqual([0, "1 of 1 replicas are ready.\n"]);
  });
});
