import type { InstanceSpec } from "@cloudwire/provider-simulated";
import type { Json } from "../../../support/kube.ts";
import type { Scenario } from "../scenario.ts";
import { addressesOf, type Stage } from "../stage.ts";

const CALL_MS = 10_000;

type Patch = Parameters<Stage["world"]["cloud"]["patchInstance"]>[1];

interface Change {
  readonly name: string;
  readonly claims: readonly string[];
  readonly machine?: Partial<InstanceSpec>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly patch: Patch;
}

/** What the cloud changes on a machine whose Node is initialized; looked at after two refreshes. */
const changes: readonly Change[] = [
  { name: "refresh: nothing changed", claims: [], patch: { tags: { color: "blue" } } },
  {
    name: "refresh: an address changed",
    claims: [],
    machine: { internalAddresses: ["192.0.2.31"] },
    patch: { internalAddresses: ["192.0.2.32"] },
  },
  {
    name: "refresh: an address is new",
    claims: [],
    machine: { internalAddresses: ["192.0.2.41"] },
    patch: { externalAddresses: ["198.51.100.41"] },
  },
  {
    name: "refresh: an address is gone",
    claims: [],
    machine: { internalAddresses: ["192.0.2.51"], externalAddress: true },
    patch: { externalAddresses: [] },
  },
  {
    name: "refresh: two families, nothing changed",
    claims: ["N10"],
    machine: { ipv6: true, externalAddress: true },
    patch: { tags: { color: "blue" } },
  },
  {
    name: "refresh: the order of addresses changed",
    claims: ["N10"],
    machine: { internalAddresses: ["192.0.2.61", "198.51.100.61"] },
    patch: { internalAddresses: ["198.51.100.61", "192.0.2.61"] },
  },
  { name: "refresh: the type changed", claims: ["N18"], machine: { type: "small" }, patch: { type: "large" } },
  {
    name: "refresh: further labels changed",
    claims: ["N18"],
    machine: { tags: { "node-label/team": "blue" } },
    patch: { tags: { "node-label/team": "green", "node-label/new": "yes" } },
  },
  { name: "refresh: the host name changed", claims: [], patch: { hostname: "renamed.example.com" } },
  {
    name: "refresh: the provided IP is gone",
    claims: ["N21"],
    machine: { internalAddresses: ["192.0.2.71", "192.0.2.72"] },
    annotations: { "alpha.kubernetes.io/provided-node-ip": "192.0.2.72" },
    patch: { internalAddresses: ["192.0.2.71", "192.0.2.73"] },
  },
];

export const refreshScenarios: readonly Scenario[] = [
  ...changes.map(
    ({ name, claims, machine = {}, annotations = {}, patch }): Scenario => ({
      name,
      claims,
      run: async (stage) => {
        const { id } = await stage.join("a", machine, { annotations });
        const beside = await Beside.join(stage);
        await stage.fromHere();
        await stage.world.cloud.patchInstance(id, patch, AbortSignal.timeout(CALL_MS));
        await beside.refreshed();
      },
    }),
  ),
  {
    name: "refresh: the machine is gone, the Node Ready",
    claims: [],
    run: async (stage) => {
      const { id } = await stage.join("a");
      const beside = await Beside.join(stage);
      await stage.fromHere();
      await stage.world.cloud.terminateInstances([id], AbortSignal.timeout(CALL_MS));
      await beside.refreshed();
    },
  },
];

/** A node beside the one that is looked at, whose address shows when all nodes were refreshed. */
class Beside {
  readonly #stage: Stage;
  readonly #machineId: string;

  private constructor(stage: Stage, machineId: string) {
    this.#stage = stage;
    this.#machineId = machineId;
  }

  static async join(stage: Stage): Promise<Beside> {
    return new Beside(stage, (await stage.join("beside")).id);
  }

  /** Waits for a refresh that began after this call. One side may answer from what it read up to 30 s ago. */
  async refreshed(): Promise<void> {
    const stage = this.#stage;
    const address = "203.0.113.1";
    const patch = { internalAddresses: [address] };
    await stage.world.cloud.patchInstance(this.#machineId, patch, AbortSignal.timeout(CALL_MS));
    const isShown = (node: Json): boolean => addressesOf(node).some((one) => one["address"] === address);
    await stage.seeNode("beside", "is refreshed", isShown, 60_000);
  }
}
