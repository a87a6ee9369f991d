import { fileURLToPath } from "node:url";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";

const MANIFESTS = new URL("../../../deploy/manifests/", import.meta.url);
const WAIT_MS = 60_000;

let cluster: ControlPlane;
beforeAll(async () => {
  await buildControlPlane();
  cluster = await startControlPlane({ scheduler: true });
}, 60 * 60_000);
afterAll(() => cluster.stop());

/** Each is removed by a program that may wait for the initialization of the Node. */
const TAINTS = [
  { key: "node.cilium.io/agent-not-ready", effect: "NoSchedule" },
  { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" },
  { key: "CriticalAddonsOnly", effect: "NoSchedule" },
  { key: "node-role.kubernetes.io/etcd", effect: "NoExecute" },
  { key: "node.kubernetes.io/network-unavailable", effect: "NoSchedule" },
];

test.each(["aws", "baremetal", "openstack", "simulated"])(
  "the pod of %s.yaml is scheduled on a Node with any taints (case N-3)",
  async (provider) => {
    const name = `tainted-${provider}`;
    await cluster.addNode(
      {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels: { "node-role.kubernetes.io/control-plane": "", only: provider } },
        spec: { taints: TAINTS },
        status: {
          capacity: { cpu: "4", memory: "8Gi", pods: "110" },
          allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
        },
      },
      1000,
    );
    const manifest = fileURLToPath(new URL(`${provider}.yaml`, MANIFESTS));
    const template = ["--dry-run=client", "-o", "jsonpath={.spec.template.spec}"];
    const rendered: unknown = JSON.parse(await cluster.kubectl(["create", "-f", manifest, ...template]));
    const spec = { ...Object(rendered), nodeSelector: { only: provider }, priorityClassName: undefined };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
    await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(pod) });
    const bound = await eventually("the pod to be bound", WAIT_MS, async () => {
      const node = await cluster.kubectl(["get", "pod", name, "-o", "jsonpath={.spec.nodeName}"]);
      return node === "" ? undefined : node;
    });
    expect(bound).toBe(name);
  },
);
