import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type DevCluster, startDevCluster } from "./index.ts";

const program = "kubectl";
const found = spawnSync(program, ["version", "--client"]).error === undefined;
// In CI its absence is a failure, never a skip.
const missing = !found && process.env["CI"] !== "true";
if (missing) console.warn("skipped: kubectl against devcluster: there is no kubectl in PATH");

const manifest = `
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {role: worker}
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  type: LoadBalancer
  selector: {app: web}
  ports:
    - {name: http, port: 80}
    - {name: https, port: 443, targetPort: tls}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data: {a: "1", b: "2"}
`;

const pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";

describe.skipIf(missing)("kubectl", () => {
  let directory: string;
  let cluster: DevCluster;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "devcluster-kubectl-"));
    cluster = await startDevCluster();
    await cluster.writeKubeconfig(path.join(directory, "kubeconfig"));
    await writeFile(path.join(directory, "all.yaml"), manifest);
  });

  afterEach(async () => {
    await cluster.close();
    await rm(directory, { recursive: true });
  });

  /** What kubectl prints, both streams, whether it succeeds or not. */
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const flags = [
      `--kubeconfig=${path.join(directory, "kubeconfig")}`,
      `--cache-dir=${path.join(directory, "cache")}`,
    ];
    const run = promisify(execFile);
    try {
      const { stdout, stderr } = await run(program, [...flags, ...args], { timeout: 30_000 });
      return stdout + stderr;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const apply = (): Promise<string> => kubectl("apply", "-f", path.join(directory, "all.yaml"));

  test("apply creates, leaves alone what has not changed, and changes what has", async () => {
    expect(await apply()).toBe("node/n1 created\nservice/web created\nconfigmap/settings created\n");
    expect(await apply()).toBe("node/n1 unchanged\nservice/web unchanged\nconfigmap/settings unchanged\n");
    const changed = manifest.replace("port: 80", "port: 8080").replace('a: "1", ', "").replace("worker", "other");
    await writeFile(path.join(directory, "all.yaml"), changed);
    expect(await apply()).toBe("node/n1 configured\nservice/web configured\nconfigmap/settings configured\n");
    expect(cluster.read("v1", "ConfigMap", "default", "settings")).toMatchObject({ data: { b: "2" } });
    expect(cluster.read("v1", "Service", "default", "web")).toMatchObject({
      spec: { ports: [{ name: "http", port: 8080 }, { name: "https" }] },
    });
  });

  test("get shows tables", async () => {
    await apply();
    const nodes = await kubectl("get", "nodes");
    expect(nodes).toMatch(/^NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION\s*\nn1\s+Unknown\s+<none>\s+\d+s/);
    const services = await kubectl("get", "svc", "-o", "wide", "--all-namespaces");
    expect(services).toMatch(/^NAMESPACE\s+NAME\s+TYPE\s+CLUSTER-IP\s+EXTERNAL-IP\s+PORT\(S\)\s+AGE\s+SELECTOR\s*\n/);
    expect(services).toMatch(
      /default\s+web\s+LoadBalancer\s+10\.96\.\d+\.\d+\s+<pending>\s+80:\d+\/TCP,443:\d+\/TCP\s+\d+s\s+app=web/,
    );
    expect(await kubectl("get", "cm", "settings", "-o", "jsonpath={.data.b}")).toBe("2");
    expect(await kubectl("get", "nodes", "-l", "role!=worker")).toBe("No resources found\n");
  });

  test("describe shows a node with its lease, pods and events, and a service", async () => {
    await apply();
    cluster.seed({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "n1", namespace: "kube-node-lease" },
      spec: { holderIdentity: "n1" },
    });
    cluster.seed({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "n1.1", namespace: "default" },
      involvedObject: { kind: "Node", name: "n1", uid: "n1" },
      reason: "RegisteredNode",
      message: "Node n1 event",
      type: "Normal",
      lastTimestamp: "2026-01-01T00:00:00Z",
      source: { component: "node-controller" },
    });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
    };
    cluster.seed(pod);
    const node = await kubectl("describe", "node", "n1");
    for (const text of ["HolderIdentity:  n1", "Non-terminated Pods:          (1 in total)", "RegisteredNode"])
      expect(node).toContain(text);
    expect(await kubectl("describe", "svc", "web")).toMatch(/External Traffic Policy:\s+Cluster/);
  });

  test("label, annotate, taint, cordon, patch and edit by replace", async () => {
    await apply();
    for (const args of [
      ["label", "node", "n1", "x=y"],
      ["annotate", "node", "n1", "a=b"],
      ["taint", "node", "n1", "k=v:NoSchedule"],
      ["cordon", "n1"],
      ["patch", "svc", "web", "-p", '{"spec":{"externalTrafficPolicy":"Local"}}'],
    ]) {
      expect(await kubectl(...args)).toMatch(
        /^(?:node\/n1|service\/web) (?:labeled|annotated|tainted|cordoned|patched)\n$/,
      );
    }
    expect(cluster.read("v1", "Node", "", "n1")).toMatchObject({
      metadata: { labels: { x: "y" }, annotations: { a: "b" } },
      spec: { unschedulable: true, taints: expect.arrayContaining([{ key: "k", value: "v", effect: "NoSchedule" }]) },
    });
    expect(cluster.read("v1", "Service", "default", "web")).toMatchObject({
      spec: { healthCheckNodePort: expect.any(Number) },
    });
  });

  test("delete removes, and waits for finalizers", async () => {
    await apply();
    expect(await kubectl("delete", "-f", path.join(directory, "all.yaml"))).toMatch(
      /node "n1" deleted.*\n.*service "web" deleted.*\n.*configmap "settings" deleted/,
    );
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: "held", finalizers: ["a.b/c"] } });
    expect(await kubectl("delete", "node", "held", "--wait=false")).toContain('node "held" deleted');
    expect(await kubectl("wait", "--for=delete", "node/held", "--timeout=300ms")).toContain("timed out waiting");
    await kubectl("patch", "node", "held", "--type=json", '-p=[{"op":"remove","path":"/metadata/finalizers"}]');
    expect(await kubectl("wait", "--for=delete", "node/held", "--timeout=5s")).not.toContain("timed out");
  });

  test("mistakes are reported as by a real server", async () => {
    await writeFile(
      path.join(directory, "bad.yaml"),
      "apiVersion: v1\nkind: Node\nmetadata: {name: bad}\nspec: {bogus: 1}\n",
    );
    expect(await kubectl("apply", "-f", path.join(directory, "bad.yaml"))).toContain(
      'strict decoding error: unknown field "spec.bogus"',
    );
    expect(await kubectl("get", "node", "nope")).toContain('Error from server (NotFound): nodes "nope" not found');
    expect(await kubectl("get", "deployments")).toContain(`the server doesn't have a resource type "deployments"`);
  });

  test("what kubectl sends as protobuf works too", async () => {
    expect(await kubectl("create", "namespace", "made")).toBe("namespace/made created\n");
    expect(await kubectl("delete", "namespace", "made", "--timeout=10s")).toContain('namespace "made" deleted');
    expect(await kubectl("auth", "can-i", "delete", "pods")).toBe("yes\n");
    cluster.seed({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "csr" },
      spec: {
        request: Buffer.from(pem).toString("base64"),
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["server auth"],
      },
    });
    expect(await kubectl("certificate", "approve", "csr")).toContain("csr approved");
    expect(await kubectl("get", "csr", "csr", "--no-headers")).toMatch(/kubernetes\.io\/kubelet-serving.*Approved/);
  });

  test("explain and api-resources know the kinds", async () => {
    expect(await kubectl("explain", "service.spec.ports.targetPort")).toMatch(
      /FIELD: targetPort <IntOrString>|FIELD: targetPort <string>/,
    );
    expect(await kubectl("api-resources", "--no-headers", "-o", "name")).toContain(
      "certificatesigningrequests.certificates.k8s.io",
    );
  });
});
