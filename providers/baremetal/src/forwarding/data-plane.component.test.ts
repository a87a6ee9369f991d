import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@cloudwire/provider-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseConfig } from "../config/config.ts";
import { emptyState, type LoadBalancerRecord, type Placement } from "../state/state.ts";
import { openStore } from "../state/store.ts";
import { record } from "../test/records.ts";
import { type DataPlane, dataPlane } from "./data-plane.ts";

const parsed = parseConfig(
  "site: s\nstateDir: /s\ninventory: { path: /m }\npools: [{ name: lan, ranges: [192.0.2.0/24] }]",
);
const log = createLogger({ level: "error", write: () => undefined, now: () => new Date(0) });

/** What the machine has, and which part of it fails. */
interface Machine {
  addresses: Placement[];
  tables: string;
  haproxy: string;
  failing: "addresses" | "nftables" | "haproxy" | undefined;
}

let directory: string;
let machine: Machine;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "plane-"));
  machine = { addresses: [{ address: "192.0.2.200", interface: "lo" }], tables: "", haproxy: "", failing: undefined };
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const failIf = (part: Machine["failing"]): void => {
  if (machine.failing === part) throw new Error(`${part} is broken`);
};

/** A process: it knows what the state file says, and what the machine has. */
async function start(): Promise<{
  readonly plane: DataPlane;
  readonly store: Awaited<ReturnType<typeof openStore>>["store"];
}> {
  if (parsed.kind !== "value") throw new Error(parsed.problems.join());
  const { store } = await openStore(directory);
  const same = (left: Placement) => (right: Placement) =>
    left.address === right.address && left.interface === right.interface;
  const plane = dataPlane(
    parsed.value,
    store,
    {
      addresses: {
        list: async () => machine.addresses,
        add: async (placement) => {
          failIf("addresses");
          machine.addresses = [...machine.addresses, placement];
        },
        remove: async (placement) => {
          machine.addresses = machine.addresses.filter((one) => !same(placement)(one));
        },
        announce: async () => undefined,
      },
      nftables: {
        revision: async () => undefined,
        apply: async ({ text, isEmpty }) => {
          failIf("nftables");
          machine.tables = isEmpty ? "" : text;
          return true;
        },
      },
      haproxy: {
        structure: async () => undefined,
        apply: async ({ text, isEmpty }) => {
          failIf("haproxy");
          machine.haproxy = isEmpty ? "" : text;
          return "reload";
        },
      },
      flows: { forget: async () => undefined },
      bird: undefined,
      health: { isHealthy: () => true, watch: async () => undefined, stop: () => undefined },
    },
    log,
  );
  return { plane, store };
}

const written = async (
  records: readonly LoadBalancerRecord[],
  placements: readonly Placement[] = [],
): Promise<void> => {
  const state = { ...emptyState, revision: 1, loadBalancers: records, placements };
  await writeFile(join(directory, "state.json"), JSON.stringify(state));
};
const ours: Placement = { address: "192.0.2.1", interface: "lo" };
const foreign: Placement = { address: "192.0.2.200", interface: "lo" };

describe("dataPlane()", () => {
  test.each([
    ["nothing was done", [], []],
    ["the address was only written down", [ours], []],
    ["the address was there", [ours], [ours]],
  ])("completes what an earlier process began, when %s", async (_, placements, present) => {
    await written([record()], placements);
    machine.addresses = [foreign, ...present];
    const { plane, store } = await start();
    await plane.converge();
    expect(machine.addresses).toEqual([foreign, ours]);
    expect(machine.haproxy).toContain("bind 192.0.2.1:80");
    expect(machine.tables).toContain("192.0.2.1 . tcp . 80");
    expect(plane.problemOf(record())).toBeUndefined();
    expect(store.state().placements).toEqual([ours]);
  });

  test.each([
    ["all was still there", [ours], [ours]],
    ["the address was gone already", [ours], []],
  ])("completes a deletion, when %s, and touches no address of others", async (_, placements, present) => {
    await written([record({ isDeleting: true })], placements);
    machine = { addresses: [foreign, ...present], tables: "old", haproxy: "old", failing: undefined };
    const { plane, store } = await start();
    await plane.converge();
    expect(machine).toEqual({ addresses: [foreign], tables: "", haproxy: "", failing: undefined });
    expect(store.state()).toMatchObject({ loadBalancers: [], placements: [] });
    expect((await openStore(directory)).store.state().loadBalancers).toEqual([]);
  });

  test.each([
    ["haproxy", "haproxy is broken", undefined],
    ["nftables", "nftables is broken", "nftables is broken"],
    ["addresses", "addresses is broken", "addresses is broken"],
  ] as const)("reports a failure of %s only for the affected load balancers", async (part, ofHaproxy, ofNftables) => {
    const packets = record({ key: "k8s-b", forwarder: "nftables", addresses: [{ address: "192.0.2.2", pool: "lan" }] });
    await written([record(), packets]);
    machine.failing = part;
    const { plane } = await start();
    await plane.converge();
    expect([plane.problemOf(record()), plane.problemOf(packets)]).toEqual([ofHaproxy, ofNftables]);
    machine.failing = undefined;
    await plane.converge();
    expect([plane.problemOf(record()), plane.problemOf(packets), plane.problems().size]).toEqual([
      undefined,
      undefined,
      0,
    ]);
  });

  test("forgets a deleted load balancer only when every part has let it go", async () => {
    await written([record({ isDeleting: true })], [ours]);
    machine = { addresses: [ours], tables: "old", haproxy: "old", failing: "haproxy" };
    const { plane, store } = await start();
    await plane.converge();
    expect(store.state().loadBalancers).toHaveLength(1);
    expect(machine.addresses).toEqual([ours]);
    machine.failing = undefined;
    await plane.converge();
    expect(store.state().loadBalancers).toEqual([]);
    expect(machine.addresses).toEqual([]);
  });
});

test.each([
  ["is cut short", '{"version":1,"load', "is not valid JSON"],
  ["is of another version", '{"version":2}', "version"],
])("openStore() does not start with an empty state if the state file %s", async (_, text, problem) => {
  await writeFile(join(directory, "state.json"), text);
  await expect(openStore(directory)).rejects.toThrow(problem);
});
