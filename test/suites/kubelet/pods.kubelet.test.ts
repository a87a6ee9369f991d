import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ControlPlane } from "@cloudwire/control-plane";
import { type KubernetesObject, renderChart } from "@cloudwire/deploy/chart";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readGuides } from "../guides/blocks.ts";
import { type Ended, runCli } from "../../support/cli.ts";
import { at, listOf } from "../../support/kube.ts";
import { fetchPage, freePort } from "../../support/secure-page.ts";
import { NON_ROOT } from "../system/support/containers.ts";
import { controllerKubeconfig } from "../system/support/rights.ts";
import { UNINITIALIZED, type Harness } from "../system/support/harness.ts";
import type { Machine } from "./support/machine.ts";
import { shell } from "./support/shell.ts";
import { NODE_PATH, Stage } from "./support/stage.ts";

const GUIDE = "docs/guides/explain.md";
const STATUS_READER = new URL("../../../deploy/manifests/rbac-status-reader.yaml", import.meta.url);

let stage: Stage;
let cluster: ControlPlane;
let harness: Harness;
let machine: Machine;

beforeAll(async () => {
  stage = await Stage.start();
  ({ cluster, harness, machine } = stage);
}, 60 * 60_000);
afterAll(() => stage?.[Symbol.asyncDispose](), 120_000);

const waitFor = <T>(what: string, ask: () => Promise<T | undefined>): Promise<T> => stage.waitFor(what, ask);

/** Of a container's program: what the kernel knows of it. */
const statusOf = async (program: string): Promise<Readonly<Record<string, string>>> => {
  const lines = (await readFile(`/proc/${await stage.idOf(program)}/status`, "utf8")).split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/:\s+/)).map(([key = "", value = ""]) => [key, value]));
};

/** The command line as an operator has it: a kubeconfig, and nothing else. */
const cli = (args: readonly string[], kubeconfig: string): Promise<Ended> =>
  runCli([...args, "--kubeconfig", kubeconfig]);

describe("a static pod, on the machine that waits for it", () => {
  test("initializes the Node of its own machine", async () => {
    const kubeconfig = await machine.putFile("kubeconfig", await readFile(await controllerKubeconfig(cluster), "utf8"));
    const values = { ...stage.values, kind: "StaticPod", kubeconfig: { hostPath: kubeconfig } };
    const pods = (await renderChart({ values })).filter(({ kind }) => kind === "Pod");
    const [pod] = pods.filter(({ metadata }) => !("helm.sh/hook" in (metadata.annotations ?? {})));
    expect(pod).toBeDefined();
    await machine.runStaticPod("cloud-controller-manager", Object(pod));
    await machine.startKubelet();

    await waitFor("the taint to be lifted", async () => {
      const node = await harness.kube.find(NODE_PATH);
      return node !== undefined && !(await stage.taintKeys()).includes(UNINITIALIZED) ? true : undefined;
    });
    const node = await harness.kube.get(NODE_PATH);
    const { items } = await harness.cloud.listInstances(
      { pageSize: 10, consistent: true },
      AbortSignal.timeout(10_000),
    );
    expect(items.map(({ id }) => `sim://north-a/${id}`).join()).toBe(at(node, "spec", "providerID"));
    expect(listOf(at(node, "status", "addresses")).map(({ type }) => type)).toContain("InternalIP");
  });

  test("is ready by the kubelet's own probes, and none of its containers was started again", async () => {
    const pod = await stage.readyPod();
    const statuses = [
      ...listOf(at(pod, "status", "initContainerStatuses")),
      ...listOf(at(pod, "status", "containerStatuses")),
    ];
    expect(statuses.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ["simulated", 0],
      ["controller", 0],
    ]);
  });

  test.each(["cloudwire-controller-manager", "cloudwire-provider-simulated"])(
    "runs %s as an unprivileged user, without capabilities, and with the runtime's filter of system calls",
    async (program) => {
      const { Uid, CapEff, CapBnd, NoNewPrivs, Seccomp } = await statusOf(program);
      expect({ user: Uid?.split("\t")[0], CapEff, CapBnd, NoNewPrivs, Seccomp }).toEqual({
        user: String(NON_ROOT),
        CapEff: "0000000000000000",
        CapBnd: "0000000000000000",
        NoNewPrivs: "1",
        Seccomp: "2",
      });
    },
  );

  test("is found by the command line by its Lease, and answers through a forwarded port", async () => {
    const status = await cli(["status"], cluster.kubeconfigPath);
    expect([status.code, status.err]).toEqual([0, ""]);
    expect(status.out).toMatch(/\n {2}node +1 +0 +0 +0 +0\n/);
    expect(status.out).toMatch(/ \(leader\), version /);
    const explained = await cli(["explain", `node/${stage.node}`, "-o", "json"], cluster.kubeconfigPath);
    expect(JSON.parse(explained.out)).toMatchObject({
      object: `node/${stage.node}`,
      exists: true,
      replica: { isLeader: true },
    });
  });

  test("reports a port on which no server listens", async () => {
    const { code, out, err } = await cli(["status", "--port", "10299"], cluster.kubeconfigPath);
    expect({ code, out, err }).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining("does not respond on port 10299"),
    });
  });

  test("goes on when its provider is killed, which the kubelet starts again", async () => {
    const [before] = await machine.processes("/cloudwire-provider-simulated.mjs");
    process.kill(Number(before), "SIGKILL");
    await waitFor("another provider", async () => {
      const [now] = await machine.processes("/cloudwire-provider-simulated.mjs");
      return now !== undefined && now !== before ? true : undefined;
    });
    await harness.kube.create("/api/v1/namespaces/default/services", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: { type: "LoadBalancer", ports: [{ port: await freePort() }], selector: { app: "web" } },
    });
    await waitFor("the Service to have an address", async () => {
      const service = await harness.kube.get("/api/v1/namespaces/default/services/web");
      return listOf(at(service, "status", "loadBalancer", "ingress"))[0]?.["ip"];
    });
    await harness.kube.delete("/api/v1/namespaces/default/services/web");
    await waitFor("the Service to be gone", async () =>
      (await harness.kube.find("/api/v1/namespaces/default/services/web")) === undefined ? true : undefined,
    );
    expect(await harness.loadBalancers()).toEqual([]);
  });

  test("ends in time when its manifest is taken away, and gives up the Lease", async () => {
    await machine.endStaticPod("cloud-controller-manager");
    await stage.noPod();
    const lease = await harness.kube.get(
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager",
    );
    expect(at(lease, "spec", "holderIdentity") ?? "").toBe("");
  });
});

describe("a Deployment", () => {
  const apply = (objects: readonly KubernetesObject[]): Promise<string> =>
    cluster.kubectl(["apply", "--validate=strict", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    });

  test("is scheduled to a Node that waits for it, comes in by its service account's token, and initializes the Node", async () => {
    await cluster.kubectl(["label", "node", stage.node, "node-role.kubernetes.io/control-plane="]);
    await cluster.kubectl(["taint", "node", stage.node, `${UNINITIALIZED}=true:NoSchedule`]);
    const objects = await renderChart({ values: stage.valuesInCluster });
    await apply(objects.filter(({ metadata }) => !("helm.sh/hook" in (metadata.annotations ?? {}))));
    await waitFor("the taint to be lifted", async () =>
      (await stage.taintKeys()).includes(UNINITIALIZED) ? undefined : true,
    );
    const pod = await stage.readyPod();
    expect(at(pod, "spec", "nodeName")).toBe(stage.node);
  });

  test("answers the command line of operators who have the rights that the guide gives them, and no others", async () => {
    const { path } = await cluster.kubeconfigFor("olga", ["operators"]);
    const before = await cli(["status"], path);
    expect(before).toMatchObject({ code: 1, err: expect.stringContaining("resources: [leases], verbs: [get]") });
    const role = (await readGuides()).find(({ page, text }) => page === GUIDE && text.includes("kind: Role\n"));
    await cluster.kubectl(["apply", "-f", "-"], { input: role?.text ?? "" });
    await cluster.kubectl([
      "-n",
      "kube-system",
      "create",
      "rolebinding",
      "reach",
      "--role=cloudwire-reach",
      "--group=operators",
    ]);
    await waitFor("what is missing to be the page", async () => {
      const { err } = await cli(["status"], path);
      return err.includes('nonResourceURLs: ["/debug/overview"]') ? true : undefined;
    });
    await cluster.kubectl(["apply", "-f", fileURLToPath(STATUS_READER)]);
    const reader = "--clusterrole=cloudwire:status-reader";
    await cluster.kubectl(["create", "clusterrolebinding", "operators-read-status", reader, "--group=operators"]);
    const status = await waitFor("the rights to be in force", async () => {
      const ended = await cli(["status"], path);
      return ended.code === 0 ? ended : undefined;
    });
    expect(status.out).toMatch(/ \(leader\), version /);
  });

  test("answers the command line as a ServiceAccount with nothing but its token", async () => {
    await cluster.kubectl(["-n", "kube-system", "create", "serviceaccount", "asker"]);
    const asker = "--serviceaccount=kube-system:asker";
    const refused = await cli(["status", "--service-account", "asker"], cluster.kubeconfigPath);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('nonResourceURLs: ["/debug/overview"]') });
    const reader = "--clusterrole=cloudwire:status-reader";
    await cluster.kubectl(["create", "clusterrolebinding", "asker", reader, asker]);
    await waitFor("the right to be in force", async () => {
      const ended = await cli(["status", "--service-account", "asker"], cluster.kubeconfigPath);
      return ended.code === 0 ? true : undefined;
    });
  });

  test("gives the token to the controller, and none to the provider", async () => {
    const tokenMounts = async (program: string): Promise<readonly string[]> => {
      const [id] = await machine.processes(`/${program}.mjs`);
      const mounts = (await readFile(`/proc/${id}/mountinfo`, "utf8"))
        .split("\n")
        .map((line) => line.split(" ")[4] ?? "");
      return mounts.filter((path) => path.includes("serviceaccount"));
    };
    expect(await tokenMounts("cloudwire-controller-manager")).toHaveLength(1);
    expect(await tokenMounts("cloudwire-provider-simulated")).toEqual([]);
  });

  test("leaves no process when it is deleted", async () => {
    await cluster.kubectl(["-n", "kube-system", "delete", "deployment", "cloud-controller-manager"]);
    await stage.noPod();
    expect(await machine.processes("/cloudwire-controller-manager.mjs")).toEqual([]);
    expect(await machine.processes("/cloudwire-provider-simulated.mjs")).toEqual([]);
  });
});

describe("a pod in a network of its own", () => {
  test("is reached through a forwarded port, which the runtime carries into it", async () => {
    const kubeconfig = await machine.putFile("other", await readFile(await controllerKubeconfig(cluster), "utf8"));
    const values = { ...stage.values, kind: "StaticPod", hostNetwork: false, kubeconfig: { hostPath: kubeconfig } };
    const [pod] = (await renderChart({ values })).filter(({ kind }) => kind === "Pod");
    await machine.runStaticPod("apart", Object(pod));
    // It cannot reach the API server, so that it cannot authenticate clients; its liveness is public.
    await using _ = await shell(
      `until kubectl -n kube-system port-forward pod/cloud-controller-manager-${stage.node} 18258:10258; do sleep 1; done`,
      { kubeconfig: cluster.kubeconfigPath },
    );
    const page = await waitFor("the pod to answer", () => fetchPage(18258, "/livez").catch(() => undefined));
    expect(page).toEqual({ status: 200, text: "ok" });
    await machine.endStaticPod("apart");
    await stage.noPod();
  });
});
