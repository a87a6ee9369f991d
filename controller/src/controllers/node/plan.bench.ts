import { test } from "vitest";
import { CREATED_MS, instance, node, taint } from "../../../test/support/builders.ts";
import { CLOUD_LABELS } from "../../api/annotations.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { labelPolicies } from "./plan/labels.ts";
import { type Input, plan } from "./plan.ts";

const NODES = 1000;
const WITNESS = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: CREATED_MS };
const settings = { labels: labelPolicies("warn"), addressTimeoutMs: 300_000 };

const machines = Array.from({ length: NODES }, (_, index) =>
  instance({
    providerId: `acme://i-${index}`,
    name: `node-${index}`,
    instanceType: "m.large",
    zone: "eu-1a",
    region: "eu-1",
    addresses: [{ type: "InternalIP", address: `10.0.${index >> 8}.${index & 255}` }],
    labels: { "cloud.example.com/rack": `r${index % 40}` },
  }),
);

const waiting = machines.map((machine): Input => {
  const tainted = node(machine.name, { spec: { taints: [taint(UNINITIALIZED)] } });
  const result = { kind: "present", instance: machine, readTimeMs: CREATED_MS, witness: WITNESS } as const;
  return { kind: "waiting", node: tainted, result, byName: { kind: "notQueried" }, noAddressForMs: 0 };
});

/** As they are once the above is done. */
const initialized = machines.map((instance): Input => {
  const labels = {
    "node.kubernetes.io/instance-type": "m.large",
    "beta.kubernetes.io/instance-type": "m.large",
    "topology.kubernetes.io/zone": "eu-1a",
    "failure-domain.beta.kubernetes.io/zone": "eu-1a",
    "topology.kubernetes.io/region": "eu-1",
    "failure-domain.beta.kubernetes.io/region": "eu-1",
    ...instance.labels,
  };
  const annotations = { [CLOUD_LABELS]: Object.keys(instance.labels).join(",") };
  const done = node(instance.name, {
    metadata: { labels, annotations },
    spec: { providerID: instance.providerId },
    status: { addresses: instance.addresses },
  });
  return { kind: "initialized", node: done, observed: { instance, byName: { kind: "notQueried" } }, duplicates: [] };
});

test("node planner", async ({ bench }) => {
  await bench.compare(
    bench("1,000 Nodes that wait", () => planAll(waiting)),
    bench("1,000 initialized Nodes", () => planAll(initialized)),
  );
});

function planAll(inputs: readonly Input[]): void {
  for (const input of inputs) plan(input, CREATED_MS, settings);
}
