import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf, type Json } from "../../../support/kube.ts";
import { eachHarness } from "../support/each-harness.ts";
import { type Harness, UNINITIALIZED } from "../support/harness.ts";

const CALL_MS = 10_000;
const VICTIM = "10.120.1.0/24";
const ARGS = [
  "--cluster-cidr=10.120.0.0/16,fd00:120::/48",
  "--leader-elect=false",
  "--controllers=cloud-node,route",
  "--node-status-update-frequency=10s",
];

let harness: Harness;

eachHarness((fresh) => {
  harness = fresh;
});

/** Runs kubectl with the credentials of the node's kubelet. Returns the error of the API server; "" for success. */
async function asKubelet(node: string, args: readonly string[], input = ""): Promise<string> {
  const { path: kubeconfig } = await harness.controlPlane.kubeconfigFor(`system:node:${node}`, ["system:nodes"]);
  return harness.controlPlane.kubectl(args, { kubeconfig, input }).then(
    () => "",
    (error: unknown) => String(error),
  );
}

interface Registration {
  readonly podCIDRs?: readonly string[];
  readonly spec?: object;
  readonly metadata?: object;
}

function nodeOf(name: string, { podCIDRs = [], spec = {}, metadata = {} }: Registration): object {
  const ranges = podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0], podCIDRs };
  const taints = [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }];
  return { apiVersion: "v1", kind: "Node", metadata: { name, ...metadata }, spec: { taints, ...ranges, ...spec } };
}

function register(name: string, parts: Registration = {}): Promise<string> {
  return asKubelet(name, ["create", "-f", "-"], JSON.stringify(nodeOf(name, parts)));
}

/** Each route as `destination machine`, sorted. */
async function routes(): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(CALL_MS);
  const { items: machines } = await harness.cloud.listInstances({ pageSize: 1000, consistent: true }, signal);
  const page = await harness.cloud.listRoutes({ pageSize: 1000, consistent: true }, signal);
  const names = new Map(machines.map(({ id, name }) => [id, name]));
  return page.items.map(({ destination, instanceId }) => `${destination} ${names.get(instanceId)}`).toSorted();
}

async function routesAre(...wanted: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  await eventually(
    `routes to be ${wanted.join(", ")}`,
    30_000,
    async () => {
      seen = await routes();
      return seen.join() === wanted.join() ? true : undefined;
    },
    () => `${seen.join(", ")}\n${harness.outputs()}`,
  );
}

async function messageOf(node: string, reason: string): Promise<string> {
  return eventually(
    `event ${reason} on ${node}`,
    60_000,
    async () => {
      const selector = `fieldSelector=involvedObject.kind=Node,involvedObject.name=${node},reason=${reason}`;
      const [event] = await harness.kube.items(`/api/v1/events?${selector}`);
      return event === undefined ? undefined : String(event["message"]);
    },
    () => harness.outputs(),
  );
}

async function addressesOf(name: string): Promise<readonly unknown[]> {
  const node: Json = await harness.kube.get(`/api/v1/nodes/${name}`);
  return listOf(at(node, "status", "addresses")).map(({ address }) => address);
}

async function startWithVictim(...attackers: readonly string[]): Promise<void> {
  await harness.createMachines(["victim", ...attackers].map((name) => ({ name, zone: "north-a" })));
  await harness.startSidecar();
  harness.startController({ args: ARGS });
  expect(await register("victim", { podCIDRs: [VICTIM] })).toBe("");
  await routesAre(`${VICTIM} victim`);
}

describe("what the credentials of a kubelet can write", () => {
  test("a pod CIDR at registration makes no route outside the cluster's or into another node's (case A-1)", async () => {
    const claims: readonly (readonly [cidr: string, why: string])[] = [
      ["0.0.0.0/0", "it is not inside --cluster-cidr"],
      ["169.254.169.254/32", "it is not inside --cluster-cidr"],
      ["::/0", "it is not inside --cluster-cidr"],
      ["10.120.0.0/16", "it is a whole CIDR of --cluster-cidr"],
      ["10.120.1.128/25", `it overlaps pod CIDR ${VICTIM} of node victim`],
      [VICTIM, "node victim has the same pod CIDR"],
    ];
    const attackers = claims.map((_, index) => `attacker-${index}`);
    await startWithVictim(...attackers, "honest");
    for (const [index, [cidr]] of claims.entries()) {
      expect(await register(`attacker-${index}`, { podCIDRs: [cidr] })).toBe("");
    }
    for (const [index, [, why]] of claims.entries()) {
      expect(await messageOf(`attacker-${index}`, "FailedToCreateRoute")).toContain(why);
    }
    expect(await register("honest", { podCIDRs: ["10.120.2.0/24"] })).toBe("");
    await routesAre(`${VICTIM} victim`, "10.120.2.0/24 honest");
    for (const name of attackers) await harness.kube.delete(`/api/v1/nodes/${name}`);
    await routesAre(`${VICTIM} victim`, "10.120.2.0/24 honest");
  });

  test("a pod CIDR set later is checked in the same way, and can be set only once (case A-1)", async () => {
    await startWithVictim("attacker");
    expect(await register("attacker")).toBe("");
    await harness.initialized("attacker");
    const set = (cidr: string) => {
      const patch = JSON.stringify({ spec: { podCIDR: cidr, podCIDRs: [cidr] } });
      return asKubelet("attacker", ["patch", "node", "attacker", "--patch", patch]);
    };
    expect(await set("10.120.1.7/32")).toBe("");
    expect(await messageOf("attacker", "FailedToCreateRoute")).toContain(`it overlaps pod CIDR ${VICTIM}`);
    expect(await set("10.120.9.0/24")).toContain("podCIDRs");
    await routesAre(`${VICTIM} victim`);
  });

  test("the provider ID of another node's machine takes no route from it, and is reported (case A-1)", async () => {
    await startWithVictim("attacker");
    const victim = await harness.initialized("victim");
    const providerID = at(victim, "spec", "providerID");
    expect(await register("attacker", { spec: { providerID } })).toBe("");
    expect(await messageOf("attacker", "ProviderIDMismatch")).toContain("node victim has the same provider ID");
    await routesAre(`${VICTIM} victim`);
    expect(
      await asKubelet("attacker", ["patch", "node", "attacker", "-p", '{"spec":{"providerID":"x://1"}}']),
    ).not.toBe("");
  });

  test("addresses in the status are replaced by the cloud's (case A-1)", async () => {
    await startWithVictim("attacker");
    expect(await register("attacker")).toBe("");
    await harness.initialized("attacker");
    const own = await addressesOf("attacker");
    const status = { addresses: [{ type: "InternalIP", address: "169.254.169.254" }] };
    const { spec } = await harness.kube.get("/api/v1/nodes/attacker");
    const node = JSON.stringify({ ...nodeOf("attacker", {}), spec, status });
    // kubectl patch would read nodes/status first, which a kubelet may not.
    expect(await asKubelet("attacker", ["replace", "--raw", "/api/v1/nodes/attacker/status", "-f", "-"], node)).toBe(
      "",
    );
    expect(await addressesOf("attacker")).toEqual(["169.254.169.254"]);
    await eventually(
      "the addresses to be the cloud's again",
      60_000,
      async () => ((await addressesOf("attacker")).join() === own.join() ? true : undefined),
      () => harness.outputs(),
    );
  });

  test.each([
    ["another node's object", "victim", { spec: { unschedulable: true } }],
    ["its taints", "attacker", { spec: { taints: [] } }],
    [
      "labels that selectors of providers should use",
      "attacker",
      {
        metadata: { labels: { "node-restriction.kubernetes.io/provider": "x" } },
      },
    ],
    [
      "owner references",
      "attacker",
      {
        metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "x", uid: "x" }] },
      },
    ],
  ])("%s: the API server rejects the change (case A-1)", async (_what, node, patch) => {
    await harness.kube.create("/api/v1/nodes", nodeOf("victim", {}));
    expect(await register("attacker")).toBe("");
    const args = ["patch", "node", node, "--type=merge", "-p", JSON.stringify(patch)];
    expect(await asKubelet("attacker", args)).toMatch(/forbidden|not allowed/);
  });
});
