import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestProvider, type TestProvider } from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunProgram } from "../edge/run-program.ts";
import { type KernelRoutes, kernelRoutes } from "../forwarding/kernel-routes.ts";
import { repairRoutes } from "../forwarding/repair-routes.ts";
import { type Machines, toMachines } from "../inventory/machine.ts";
import { parseInventory } from "../inventory/parse-inventory.ts";
import type { RouteRecord } from "../state/state.ts";
import { openStore, type Store } from "../state/store.ts";
import { instanceHandlers } from "./instances.ts";
import { routeHandlers } from "./routes.ts";

const cidr = "10.244.1.0/24";
const cluster = { id: "home" };

let directory: string;
let store: Store;
let kernel: KernelRoutes;
let machines: Machines;
let provider: TestProvider;
/** What the kernel has: destinations and where they lead. */
let inKernel: Map<string, string>;
/** Begins and ends with a change of the kernel's routes. */
let duringChange: () => Promise<void>;

/** `ip`, as far as routes need it. */
const run: RunProgram = async (_program, args, { input = "" } = {}) => {
  if (args.includes("-batch")) {
    await duringChange();
    for (const [, verb, destination = "", , gateway = ""] of input.split("\n").map((line) => line.split(" "))) {
      if (verb === "del") inKernel.delete(destination);
      else if (destination !== "") inKernel.set(destination, gateway);
    }
    return { code: 0, stdout: "", stderr: "" };
  }
  const rows = [...inKernel].map(([dst, gateway]) => ({ dst, gateway, protocol: "77" }));
  return { code: 0, stdout: JSON.stringify(args.includes("-4") ? rows : []), stderr: "" };
};

const machineAt = (address: string): Machines => {
  const text = `machines: [{ id: m-1, name: node-1, internalIPs: [${address}] }]`;
  const parsed = parseInventory([{ name: "machines.yaml", text }]);
  return toMachines(parsed.kind === "value" ? parsed.value : expect.fail(parsed.problems.join()), new Date(0));
};

const source = { read: async () => machines };
const route = { destinationCidr: cidr, targetProviderId: "baremetal://m-1", targetNodeName: "node-1" };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "routes-"));
  store = (await openStore(directory)).store;
  kernel = kernelRoutes(run, { protocol: 77, table: 254 });
  machines = machineAt("10.50.0.11");
  inKernel = new Map();
  duringChange = async () => undefined;
  provider = await startTestProvider(
    {
      name: "baremetal",
      version: "0.1.0",
      idPrefix: "baremetal://",
      scope: "baremetal/test",
      check: async () => ({}),
      instances: instanceHandlers(source),
      routes: routeHandlers({ store, source, kernel }),
    },
    { cluster },
  );
});
afterEach(async () => {
  await provider.close();
  await rm(directory, { recursive: true, force: true });
});

const listed = async (): Promise<readonly string[]> => {
  const { routes } = await provider.client.listRoutes({});
  return routes.map(({ destinationCidr }) => destinationCidr);
};

describe("routes", () => {
  test("are listed while they move to another address of their machine", async () => {
    await provider.client.batchEnsureRoutes({ routes: [route] });
    machines = machineAt("10.50.0.111");
    let asked: Promise<readonly string[]> = Promise.resolve([]);
    duringChange = async () => {
      asked = listed();
      // Time enough for a list that does not wait.
      for (let calls = 0; calls < 20; calls += 1) await provider.client.getProviderStatus();
    };
    expect(await repairRoutes(store, kernel, source)).toBe(1);
    expect(await asked).toEqual([cidr]);
    expect(inKernel).toEqual(new Map([[cidr, "10.50.0.111"]]));
  });

  test("that were half taken out are taken out, and their ranges are free for others", async () => {
    const half: RouteRecord = {
      cluster: { id: "another" },
      destination: cidr,
      targetId: "m-1",
      gateway: "10.50.0.11",
      isDeleting: true,
    };
    await store.update((state) => ({ ...state, routes: [half] }));
    inKernel.set(cidr, half.gateway);
    expect(await repairRoutes(store, kernel, source)).toBe(1);
    expect([inKernel.size, store.state().routes]).toEqual([0, []]);
    const { results } = await provider.client.batchEnsureRoutes({ routes: [route] });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["route"]);
  });
});
