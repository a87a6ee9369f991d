import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildControlPlane, type ControlPlane, readVersion, startControlPlane } from "./index.ts";
import { listAt, objectAt } from "./json.ts";
import { isRunning, runningIn } from "./testing/processes.ts";

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";
const taint = { key: uninitialized, value: "true", effect: "NoSchedule" };
const pollTimeoutMs = 15_000;
const buildTimeoutMs = 60 * 60_000;

beforeAll(async () => {
  await buildControlPlane();
}, buildTimeoutMs);

describe("startControlPlane() with all programs", () => {
  let controlPlane: ControlPlane;

  beforeAll(async () => {
    controlPlane = await startControlPlane({
      scheduler: true,
      controllerManager: {
        podCidrs: ["10.244.0.0/16"],
        args: ["--node-monitor-period=500ms", "--node-monitor-grace-period=4s"],
      },
      audit: { users: ["alice"] },
      serviceAccountTokens: true,
    });
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") controlPlane.keepFiles();
  });
  afterAll(() => controlPlane.stop());

  const getJson = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse(await controlPlane.kubectl(["get", "-o", "json", ...args]));
  const waitFor = (condition: string, ...args: readonly string[]) =>
    controlPlane.kubectl(["wait", `--for=${condition}`, "--timeout=30s", ...args]);

  it("answers kubectl as the version of versions.json", async () => {
    const { kubernetes } = await readVersion();
    const [major, minor] = kubernetes.split(".");
    const version = JSON.parse(await controlPlane.kubectl(["version", "-o", "json"]));
    expect(version).toMatchObject({
      clientVersion: { gitVersion: `v${kubernetes}`, major, minor },
      serverVersion: { gitVersion: `v${kubernetes}`, major, minor },
    });
  });

  it("has a Node that is as old as it was said to be", async () => {
    const beforeMs = Date.now();
    await controlPlane.addNode({ metadata: { name: "old", labels: { color: "red" } } }, 3_600_000);
    const metadata = objectAt(await getJson("node", "old"), "metadata");
    expect(metadata["labels"]).toMatchObject({ color: "red" });
    const ageMs = beforeMs - Date.parse(String(metadata["creationTimestamp"]));
    expect(Math.round(ageMs / 60_000)).toBe(60);
    await controlPlane.kubectl(["delete", "node", "old"]);
  });

  it("keeps a pod Pending until the taint of a hollow node is lifted, then runs it", async () => {
    await controlPlane.startHollowNode("node-a", { labels: { color: "blue" } });
    const node = await getJson("node", "node-a");
    expect(objectAt(node, "metadata")["labels"]).toMatchObject({ color: "blue" });
    expect(objectAt(node, "spec")["providerID"]).toBeUndefined();
    expect(listAt(objectAt(node, "status"), "addresses")).toEqual([{ type: "Hostname", address: "node-a" }]);
    await waitFor("jsonpath={.spec.podCIDR}", "node/node-a");
    // Once node-lifecycle-controller has done its part, only the cloud controller's is missing.
    await expect
      .poll(async () => listAt(objectAt(await getJson("node", "node-a"), "spec"), "taints"), { timeout: pollTimeoutMs })
      .toEqual([taint]);

    await controlPlane.kubectl(["apply", "-f", "-"], { input: pod("waits") });
    await waitFor("jsonpath={.status.conditions[?(@.type=='PodScheduled')].reason}=Unschedulable", "pod/waits");
    const pending = objectAt(await getJson("pod", "waits"), "status");
    expect(pending["phase"]).toBe("Pending");
    expect(JSON.stringify(pending["conditions"])).toContain(`untolerated taint(s)`);

    await controlPlane.kubectl(["taint", "node", "node-a", `${uninitialized}-`]);
    await waitFor("jsonpath={.status.phase}=Running", "pod/waits");
    expect(objectAt(await getJson("pod", "waits"), "spec")["nodeName"]).toBe("node-a");
  });

  it("gives a hollow node a serving certificate once it has an address and its request is approved", async () => {
    await controlPlane.startHollowNode("node-b", { servingCertificate: "bootstrap" });
    expect(listAt(await getJson("csr"), "items")).toEqual([]);
    const addresses = [
      { type: "Hostname", address: "node-b" },
      { type: "InternalIP", address: "10.0.0.2" },
    ];
    const patch = JSON.stringify({ status: { addresses } });
    await controlPlane.kubectl(["patch", "node", "node-b", "--subresource=status", "-p", patch]);
    await waitFor("create", "csr", "--field-selector=spec.signerName=kubernetes.io/kubelet-serving");
    const [request] = listAt(await getJson("csr"), "items");
    expect(objectAt(request, "spec")["username"]).toBe("system:node:node-b");
    const name = String(objectAt(request, "metadata")["name"]);
    await controlPlane.kubectl(["certificate", "approve", name]);
    await waitFor("jsonpath={.status.certificate}", `csr/${name}`);
  });

  it("lets node-lifecycle-controller notice a stopped hollow node, and its return", async () => {
    await controlPlane.startHollowNode("node-c");
    await waitFor("create", "lease/node-c", "--namespace=kube-node-lease");
    await controlPlane.stopHollowNode("node-c");
    expect(await waitFor("condition=Ready=Unknown", "node/node-c")).toContain("condition met");
    await controlPlane.startHollowNode("node-c");
    expect(await waitFor("condition=Ready=True", "node/node-c")).toContain("condition met");
  });

  it("knows a user of kubeconfigFor() and records what it does", async () => {
    const { path: kubeconfig } = await controlPlane.kubeconfigFor("alice", ["readers"]);
    const asAlice = (...args: readonly string[]) => controlPlane.kubectl(args, { kubeconfig });
    await expect(asAlice("get", "nodes")).rejects.toThrow('User "alice" cannot list resource "nodes"');
    await controlPlane.kubectl(["create", "clusterrolebinding", "readers", "--clusterrole=edit", "--group=readers"]);
    await expect
      .poll(() => asAlice("create", "configmap", "of-alice", "--from-literal=a=1"), { timeout: pollTimeoutMs })
      .toContain("created");
    await expect
      .poll(() => controlPlane.auditEvents(), { timeout: pollTimeoutMs })
      .toContainEqual(
        expect.objectContaining({
          user: "alice",
          groups: ["readers", "system:authenticated"],
          verb: "create",
          resource: "configmaps",
          name: "of-alice",
          code: 201,
          requestObject: expect.objectContaining({ data: { a: "1" } }),
        }),
      );
    expect((await controlPlane.auditEvents()).filter((event) => event.user !== "alice")).toEqual([]);
  });

  it("has the same address and objects after a restart of kube-apiserver, and no answer in between", async () => {
    await controlPlane.kubectl(["create", "namespace", "survives"]);
    await controlPlane.stopApiServer("SIGKILL");
    await expect(controlPlane.kubectl(["get", "namespaces"])).rejects.toThrow("refused");
    await controlPlane.startApiServer();
    expect(await controlPlane.kubectl(["get", "namespace", "survives", "-o", "name"])).toBe("namespace/survives\n");
    await expect(controlPlane.startApiServer()).rejects.toThrow("it runs already");
    await controlPlane.restartApiServer();
    expect(await controlPlane.kubectl(["get", "namespace", "survives", "-o", "name"])).toBe("namespace/survives\n");
    const ended = controlPlane.processes().filter((process) => !process.running);
    expect(ended.map((process) => process.program)).toEqual(["kube-apiserver", "hollow-kubelet", "kube-apiserver"]);
  });
});

describe("startControlPlane() with kube-apiserver alone", () => {
  it("leaves a Node without the taint not-ready, which no one would lift", async () => {
    await using controlPlane = await startControlPlane();
    await controlPlane.startHollowNode("node-a");
    const taints = await controlPlane.kubectl(["get", "node", "node-a", "-o", "jsonpath={.spec.taints[*].key}"]);
    expect(taints).toBe(uninitialized);
  });

  it("leaves no process and no file after stop(), even when a program is paused", async () => {
    const controlPlane = await startControlPlane();
    await controlPlane.startHollowNode("node-a");
    const pids = controlPlane.processes().map((process) => process.pid);
    expect(controlPlane.processes().map((process) => process.program)).toEqual([
      "etcd",
      "kube-apiserver",
      "hollow-kubelet",
    ]);
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await controlPlane.stop();
    expect(await Promise.all(pids.map(isRunning))).toEqual([false, false, false]);
    expect(existsSync(path.dirname(controlPlane.logDir))).toBe(false);
    await expect(controlPlane.startHollowNode("node-b")).rejects.toThrow("the control plane is stopped");
  });

  it("says why a program did not start, keeps its log, and leaves no process", async () => {
    const tmpDir = await mkdtemp(path.join(tmpdir(), "cloudwire-cp-test-"));
    const failure = startControlPlane({ apiServerArgs: ["--no-such-flag"], tmpDir });
    await expect(failure).rejects.toThrow(
      /kube-apiserver \(pid \d+\) ended with 1; log: .*unknown flag: --no-such-flag/s,
    );
    const [dir] = await readdir(tmpDir);
    expect(await readdir(path.join(tmpDir, String(dir), "logs"))).toEqual(["etcd.log", "kube-apiserver.log"]);
    expect(await runningIn(tmpDir)).toEqual([]);
    await rm(tmpDir, { recursive: true });
  });

  it("gives up when the signal says so, and leaves no process and no file", async () => {
    const tmpDir = await mkdtemp(path.join(tmpdir(), "cloudwire-cp-test-"));
    const controller = new AbortController();
    const starting = startControlPlane({ signal: controller.signal, tmpDir });
    await expect.poll(() => runningIn(tmpDir), { timeout: pollTimeoutMs }).toHaveLength(2);
    controller.abort();
    await expect(starting).rejects.toThrow("aborted");
    expect(await runningIn(tmpDir)).toEqual([]);
    expect(await readdir(tmpDir)).toEqual([]);
    await rm(tmpDir, { recursive: true });
  });
});

function pod(name: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "main", image: "example.com/none:1" }] },
  });
}
