import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureRequest, startTestProvider, type TestProvider } from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../config/config.ts";
import { type Machines, toMachines } from "../inventory/machine.ts";
import { parseInventory } from "../inventory/parse-inventory.ts";
import { openStore, type Store } from "../state/store.ts";
import { annotationSchemas } from "./annotations.ts";
import { instanceHandlers } from "./instances.ts";
import { loadBalancerHandlers } from "./load-balancers.ts";

const config = parseConfig(
  "site: s\nstateDir: /s\ninventory: { path: /m }\npools: [{ name: lan, ranges: [192.0.2.0/24] }, { name: dmz, ranges: [198.51.100.0/24], autoAssign: false }]",
);

let directory: string;
let store: Store;
let machines: Machines;
let provider: TestProvider;
let takenPorts: ReadonlySet<number>;

/** Machines `m-1` and so on in the inventory. */
const inventoryOf = (...numbers: readonly number[]): Machines => {
  const entries = numbers.map(
    (number) => `{ id: m-${number}, name: node-${number}, internalIPs: [10.50.0.${number}] }`,
  );
  const parsed = parseInventory([{ name: "machines.yaml", text: `machines: [${entries.join(", ")}]` }]);
  return toMachines(parsed.kind === "value" ? parsed.value : expect.fail(parsed.problems.join()), new Date(0));
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "balancers-"));
  store = (await openStore(directory)).store;
  machines = inventoryOf(1);
  takenPorts = new Set();
  const source = { read: async () => machines };
  const loadBalancers = loadBalancerHandlers({
    config: config.kind === "value" ? config.value : expect.fail(config.problems.join()),
    store,
    dataPlane: { converge: async () => undefined, problemOf: () => undefined, problems: () => new Map() },
    source,
    addresses: {
      list: async () => [],
      add: async () => undefined,
      remove: async () => undefined,
      announce: async () => undefined,
    },
    takenPorts: async () => takenPorts,
  });
  provider = await startTestProvider({
    name: "baremetal",
    version: "0.1.0",
    idPrefix: "baremetal://",
    scope: "baremetal/test",
    check: async () => ({}),
    instances: instanceHandlers(source),
    loadBalancers,
    annotations: annotationSchemas,
  });
});
afterEach(async () => {
  await provider.close();
  await rm(directory, { recursive: true, force: true });
});

const nodes = { "node-1": "baremetal://m-1", "node-2": "baremetal://m-2" };
type Desired = NonNullable<Parameters<typeof ensureRequest>[0]>;
const ensure = async (desired: Desired = {}) =>
  (await provider.client.ensureLoadBalancer(ensureRequest(desired))).loadBalancer;
const targets = (): readonly string[] =>
  store.state().loadBalancers.flatMap((one) => one.targets.map(({ name }) => name));

describe("nodes whose machine is not in the inventory", () => {
  test("are named until they are targets, by ensure and by an update of the nodes (case S-2)", async () => {
    const unregisteredNodes = [{ name: "node-2", providerId: "baremetal://m-2", reason: "NotInInventory" }];
    const partial = { registeredNodes: 1, nodesFingerprint: "", unregisteredNodes };
    expect(await ensure({ nodes })).toMatchObject(partial);
    const { service, nodes: selection } = ensureRequest({ nodes });
    const update = async () =>
      (await provider.client.updateLoadBalancerNodes({ service, nodes: selection })).loadBalancer;
    expect(await update()).toMatchObject(partial);
    const { loadBalancers } = await provider.client.listLoadBalancers({});
    expect(loadBalancers).toMatchObject([{ nodesFingerprint: "" }]);
    machines = inventoryOf(1, 2);
    const whole = { registeredNodes: 2, nodesFingerprint: selection?.fingerprint, unregisteredNodes: [] };
    expect(await update()).toMatchObject(whole);
    expect(targets()).toEqual(["node-1", "node-2"]);
  });

  test("leave the present targets in place as long as there is no other (case S-2)", async () => {
    await ensure({ nodes: { "node-1": "baremetal://m-1" } });
    await ensure({ nodes: { "node-2": "baremetal://m-2" } });
    expect(targets()).toEqual(["node-1"]);
    machines = inventoryOf(1, 2);
    await ensure({ nodes: { "node-2": "baremetal://m-2" } });
    expect(targets()).toEqual(["node-2"]);
    await ensure();
    expect(targets()).toEqual([]);
  });
});

test("a node whose provider ID is in capitals is a target (case N-7)", async () => {
  expect(await ensure({ nodes: { "node-1": "baremetal://M-1" } })).toMatchObject({ registeredNodes: 1 });
  expect(targets()).toEqual(["node-1"]);
});

test("a port of another program of the gateway is a mistake of the operator, and the message has the port (case S-8)", async () => {
  takenPorts = new Set([80]);
  await expect(ensure()).rejects.toMatchObject({
    reason: "CLOUD_SETUP_INVALID",
    message: expect.stringContaining("another program of the gateway listens on port 80 of all addresses"),
  });
});

test("source ranges are stored once, in their canonical form (case S-1)", async () => {
  await ensure({ spec: { sourceRanges: { cidrs: ["10.1.0.0/16", "10.0.0.0/8", "10.0.0.0/8"] } } });
  expect(store.state().loadBalancers[0]?.sourceRanges).toEqual(["10.0.0.0/8"]);
});

test("every annotation that may change follows in both directions (case S-7)", async () => {
  const settingsOf = async (annotations: Readonly<Record<string, string>>) => {
    await ensure({ spec: { annotations } });
    const [{ forwarder, hidesClients, sendsProxyHeader, addresses } = expect.fail("no load balancer")] =
      store.state().loadBalancers;
    return { forwarder, hidesClients, sendsProxyHeader, pool: addresses[0]?.pool };
  };
  const domain = "baremetal.cloudwire.dev";
  const plain = { forwarder: "haproxy", hidesClients: false, sendsProxyHeader: false, pool: "lan" };
  expect(await settingsOf({})).toEqual(plain);
  expect(await settingsOf({ [`${domain}/forwarder`]: "nftables" })).toEqual({ ...plain, forwarder: "nftables" });
  expect(await settingsOf({ [`${domain}/client-address`]: "hide" })).toEqual({ ...plain, hidesClients: true });
  expect(await settingsOf({ [`${domain}/proxy-protocol`]: "true" })).toEqual({ ...plain, sendsProxyHeader: true });
  expect(await settingsOf({ [`${domain}/address-pool`]: "dmz" })).toEqual({ ...plain, pool: "dmz" });
  // Nothing takes away an address that clients use.
  expect(await settingsOf({})).toEqual({ ...plain, pool: "dmz" });
});
