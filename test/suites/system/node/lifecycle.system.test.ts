import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import type { RunningProvider } from "@cloudwire/provider-sdk";
import type { FaultSpec } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { startColdProvider } from "../support/providers/cold-provider.ts";
import { GROWN, Harness } from "../support/harness.ts";

const NODES = 200;
const APPROVAL = "cloudwire.dev/approve-deletion";
const PROTECTION = "cloudwire.dev/deletion-protection";

/** The least that the flags take: each Node is looked at every second, and a lie lasts for longer than a span. */
const PERIOD_MS = 1000;
const SPAN_MS = 1000;
const QUICK = [`--node-monitor-period=${PERIOD_MS / 1000}s`, `--node-deletion-confirmation-period=${SPAN_MS / 1000}s`];

/** So that a cloud that hangs is given up in time. */
const SIDECAR = { env: { SIMCLOUD_CALL_TIMEOUT_MS: "1500" } } as const;

/** For what a busy machine adds to the promised times. */
const SLACK_MS = 10_000;

const names = Array.from({ length: NODES }, (_, index) => `m-${String(index).padStart(3, "0")}`);

let controlPlane: ControlPlane;
let harness: Harness;
let controller: Program;
let sidecar: Program;
/** What has to end, however far the start came. */
const started = new AsyncDisposableStack();

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
  started.defer(() => controlPlane.stop());
  harness = started.use(await Harness.start(controlPlane));
  await harness.createMachines(names.map((name, index) => ({ name, zone: index % 2 === 0 ? "north-a" : "north-b" })));
  await harness.admin.addAccount({ id: "other-account", key: "another-key" });
  for (let from = 0; from < names.length; from += 50) {
    await Promise.all(names.slice(from, from + 50).map((name) => harness.registerNode(name, GROWN)));
  }
  sidecar = await harness.startSidecar(SIDECAR);
  controller = harness.startController({ args: QUICK });
  await Promise.all(names.map((name) => harness.initialized(name, 60_000)));
}, 60 * 60_000);
afterAll(() => started.disposeAsync());

let flips = 0;

/** Every kubelet falls silent, or shows a sign of life and fails again: the controller looks at every Node again. */
async function loseHeartbeats(): Promise<void> {
  flips += 1;
  const status = flips % 2 === 0 ? "False" : "Unknown";
  for (let from = 0; from < names.length; from += 50) {
    await Promise.all(names.slice(from, from + 50).map((name) => harness.reportReady(name, status)));
  }
}

const decisions = (decision = '[^"]*') =>
  harness.metric(controller, new RegExp(`^cloudwire_node_deletion_decisions_total\\{decision="${decision}"`));

const nodeUids = async () => {
  const nodes = await harness.kube.items("/api/v1/nodes");
  return new Set(nodes.map((node) => String(at(node, "metadata", "uid"))));
};

/** Waits for so many looks at each of the Nodes. */
async function looks(count: number, before: number, timeoutMs: number): Promise<void> {
  await eventually(
    `${count} looks at each node`,
    timeoutMs,
    async () => ((await decisions()) - before >= count * NODES ? true : undefined),
    () => harness.outputs().slice(-4000),
  );
}

/** Waits until the cloud is believed again: of all machines, or of as many. */
async function exist(count = NODES): Promise<void> {
  const before = await decisions("exists");
  await eventually("the machines to exist", 60_000, async () =>
    (await decisions("exists")) - before >= count ? true : undefined,
  );
}

async function gone(name: string, withinMs: number): Promise<void> {
  await eventually(
    `node ${name} to go`,
    withinMs,
    async () => ((await harness.kube.find(`/api/v1/nodes/${name}`)) === undefined ? true : undefined),
    () => harness.outputs().slice(-4000),
  );
}

async function terminate(some: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const { items } = await harness.cloud.listInstances({ pageSize: 1000, consistent: true }, signal);
  const ids = items.filter(({ name }) => some.includes(name)).map(({ id }) => id);
  expect(ids).toHaveLength(some.length);
  await harness.cloud.terminateInstances(ids, signal);
}

/** Ends it, and brings the real sidecar back. */
function disposable(provider: RunningProvider): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      await provider.close();
      sidecar = await harness.startSidecar(SIDECAR);
    },
  };
}

interface Lie {
  readonly it: string;
  readonly fault: FaultSpec;
  /** Looks at each Node. @default LOOKS */
  readonly looks?: number;
}

/** At each Node: the first may rest on what was read just before, three in a row last for more than a span. */
const LOOKS = 4;

const lookup = "instances.lookup";

test("200 nodes that are not Ready all stay when the cloud calls every machine absent, on all the evidence there can be", async () => {
  const before = await nodeUids();
  await harness.admin.addFault({ kind: "falseAbsence", operation: lookup });
  await loseHeartbeats();
  // Only the circuit breaker still blocks their deletion.
  await eventually("each to be held twice", 60_000, async () =>
    (await decisions("tooManyNodeDeletions")) >= 2 * NODES ? true : undefined,
  );
  expect(await nodeUids()).toEqual(before);
  await harness.admin.clearFaults();
  await exist();
  await eventually("the circuit breaker to close", 60_000, async () =>
    (await harness.metric(controller, /^cloudwire_node_deletion_circuit_nodes/)) === 0 &&
    (await harness.metric(controller, /^cloudwire_node_deletion_circuit_open/)) === 0
      ? true
      : undefined,
  );
  expect(await nodeUids()).toEqual(before);
});

describe("200 nodes that are not Ready all stay while the cloud", () => {
  test.each<Lie>([
    { it: "refuses the credentials", fault: { kind: "unauthenticated" } },
    { it: "denies the permission", fault: { kind: "forbidden" } },
    { it: "throttles", fault: { kind: "rateLimited", retryAfterSeconds: 1 } },
    { it: "answers 500", fault: { kind: "internalError" } },
    { it: "answers 503", fault: { kind: "unavailable" } },
    { it: "hangs", fault: { kind: "hang", operation: lookup }, looks: 2 },
    { it: "breaks connections", fault: { kind: "reset" } },
    { it: "answers what is no JSON", fault: { kind: "malformed", operation: lookup } },
    { it: "answers an empty list", fault: { kind: "emptyList", operation: lookup } },
    { it: "answers half a page", fault: { kind: "truncatedPage", operation: lookup } },
    {
      it: "answers from a replica of an hour ago",
      fault: { kind: "staleReplica", operation: lookup, staleMs: 3_600_000 },
    },
    { it: "cannot reach a zone", fault: { kind: "zoneOutage", zone: "north-a" } },
  ])("$it", async ({ fault, looks: count = LOOKS }) => {
    const before = await nodeUids();
    expect(before.size).toBe(NODES);
    const { id } = await harness.admin.addFault(fault);
    await looks(count, await decisions(), 180_000);
    const strikes = (await harness.admin.faults()).find((planned) => planned.id === id)?.strikes ?? 0;
    expect(strikes).toBeGreaterThan(0);
    expect(await nodeUids()).toEqual(before);
    await harness.admin.clearFaults();
    // It is well again before the next lie, which otherwise might never have been asked about.
    await exist(1);
    expect(await nodeUids()).toEqual(before);
    expect(await harness.metric(controller, /^cloudwire_node_deletions_total/)).toBe(0);
  });
});

describe("200 nodes that are not Ready all stay while the sidecar", () => {
  test("is killed again and again", async () => {
    const before = await nodeUids();
    const decided = await decisions();
    for (let round = 0; round < 3; round += 1) {
      await sidecar.stop("SIGKILL");
      await loseHeartbeats();
      sidecar = await harness.startSidecar(SIDECAR);
    }
    await looks(LOOKS, decided, 120_000);
    expect(await nodeUids()).toEqual(before);
  });

  test("comes back with the credentials of another account, which knows none of the machines", async () => {
    const before = await nodeUids();
    await sidecar.stop("SIGTERM");
    sidecar = await harness.startSidecar({ ...SIDECAR, apiKey: "another-key" });
    await eventually("the controller to notice", 60_000, () =>
      /now works in scope/.test(controller.output) ? true : undefined,
    );
    const decided = await decisions();
    await loseHeartbeats();
    await looks(LOOKS, decided, 120_000);
    expect(await nodeUids()).toEqual(before);
    await sidecar.stop("SIGTERM");
    sidecar = await harness.startSidecar(SIDECAR);
  });

  // With a new controller: one that has seen the sidecar fail would delete nothing for a minute anyway.
  test("answers from a cache that is still empty, for longer than a span, to a new controller", async () => {
    const before = await nodeUids();
    await Promise.all([sidecar.stop("SIGTERM"), controller.stop("SIGTERM")]);
    let isFilled = false;
    await using _cold = disposable(await startColdProvider(harness, () => isFilled));
    controller = harness.startController({ args: QUICK });
    await eventually("each to be held twice", 60_000, async () =>
      (await decisions("tooManyNodeDeletions")) >= 2 * NODES ? true : undefined,
    );
    expect(await nodeUids()).toEqual(before);
    isFilled = true;
    await exist();
    expect(await nodeUids()).toEqual(before);
  });

  test("finds three missing machines, too few for the circuit breaker, only at the second look of a new controller", async () => {
    const before = await nodeUids();
    await Promise.all([sidecar.stop("SIGTERM"), controller.stop("SIGTERM")]);
    const late = new Set(names.slice(0, 3));
    await using _cold = disposable(
      await startColdProvider(harness, (name, askedBefore) => askedBefore > 0 || !late.has(name)),
    );
    controller = harness.startController({ args: QUICK });
    await eventually("the three to be missed", 60_000, async () =>
      (await decisions("confirming")) >= late.size ? true : undefined,
    );
    await exist();
    expect(await nodeUids()).toEqual(before);
  });

  test("has the credentials of another account from the start of a new controller", async () => {
    const before = await nodeUids();
    await Promise.all([sidecar.stop("SIGTERM"), controller.stop("SIGTERM")]);
    sidecar = await harness.startSidecar({ ...SIDECAR, apiKey: "another-key" });
    controller = harness.startController({ args: QUICK });
    // The scope that the first controller confirmed is on the Lease: no absence of another one is believed.
    await controller.said(/The scope of provider changed; changes are paused/);
    await eventually("each to be looked at twice", 60_000, async () =>
      (await decisions("unknown")) >= 2 * NODES ? true : undefined,
    );
    expect(await nodeUids()).toEqual(before);
    await Promise.all([sidecar.stop("SIGTERM"), controller.stop("SIGTERM")]);
    sidecar = await harness.startSidecar(SIDECAR);
    controller = harness.startController({ args: QUICK });
    await exist();
  });
});

describe("when machines are really gone", () => {
  test("the node of one that the cloud calls terminated goes within a span and three periods", async () => {
    await terminate(["m-000"]);
    await gone("m-000", SPAN_MS + 3 * PERIOD_MS + SLACK_MS);
    await harness.hasEvents("Node", "m-000", "DeletingNode");
    expect((await nodeUids()).size).toBe(NODES - 1);
  });

  test("the node of one without a trace goes within two spans and three periods", async () => {
    await harness.admin.change({ delays: { tombstoneMs: 0 } });
    await terminate(["m-001"]);
    await gone("m-001", 2 * SPAN_MS + 3 * PERIOD_MS + SLACK_MS);
    expect((await nodeUids()).size).toBe(NODES - 2);
  });

  test("and these are 60 % at once, none goes until they are released, and then these and no others go", async () => {
    const dead = names.slice(2, 2 + 0.6 * NODES);
    const alive = names.slice(2 + 0.6 * NODES);
    await terminate(dead);
    await eventually(
      "it to be said on every node",
      60_000,
      async () => {
        const events = await harness.kube.items("/api/v1/events?fieldSelector=reason=TooManyNodeDeletions");
        const reported = new Set(events.map((event) => at(event, "involvedObject", "name")));
        return dead.every((name) => reported.has(name)) ? true : undefined;
      },
      () => harness.outputs().slice(-4000),
    );
    const held = await decisions("tooManyNodeDeletions");
    await eventually("each to be held again", 60_000, async () =>
      (await decisions("tooManyNodeDeletions")) - held >= 2 * dead.length ? true : undefined,
    );
    expect((await nodeUids()).size).toBe(NODES - 2);
    expect(await harness.metric(controller, /^cloudwire_node_deletion_circuit_open\{provider="simulated"/)).toBe(1);
    await controller.said(/Deletion circuit breaker opened/);

    // As an operator would: on all of them, also on those that are alive.
    for (const name of [...dead, ...alive]) {
      await harness.kube.patch(`/api/v1/nodes/${name}`, { metadata: { annotations: { [APPROVAL]: "true" } } });
    }
    await eventually("the dead to be deleted and the living to be no longer approved", 60_000, async () => {
      const nodes = await harness.kube.items("/api/v1/nodes");
      const released = nodes.filter((node) => at(node, "metadata", "annotations", APPROVAL) !== undefined);
      return nodes.length === alive.length && released.length === 0 ? nodes : undefined;
    });
    const left = await harness.kube.items("/api/v1/nodes");
    expect(left.map((node) => String(at(node, "metadata", "name"))).toSorted()).toEqual(alive.toSorted());
    expect(left.flatMap((node) => listOf(at(node, "spec", "taints")))).toEqual([]);
    await eventually("the circuit breaker to close", 60_000, async () =>
      (await harness.metric(controller, /^cloudwire_node_deletion_circuit_open\{provider="simulated"/)) === 0
        ? true
        : undefined,
    );
  });
});

describe("a stopped machine", () => {
  test("marks its node, which stays, until the machine runs again", async () => {
    const name = names[NODES - 1] ?? "";
    const signal = AbortSignal.timeout(10_000);
    const { items } = await harness.cloud.listInstances({ pageSize: 1000, consistent: true }, signal);
    const id = items.find((instance) => instance.name === name)?.id ?? "";
    const taints = async () => listOf(at(await harness.kube.get(`/api/v1/nodes/${name}`), "spec", "taints"));
    await harness.cloud.stopInstance(id, signal);
    const marked = await eventually("the taint", 30_000, async () => {
      const all = await taints();
      return all.length > 0 ? all : undefined;
    });
    expect(marked).toEqual([{ key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" }]);
    await harness.cloud.startInstance(id, signal);
    await eventually("the taint to go", 30_000, async () => ((await taints()).length === 0 ? true : undefined));
  });
});

describe("a Node that is kept on purpose", () => {
  test("has no provider ID and a name that the cloud does not find; others are deleted meanwhile (case N-1)", async () => {
    await harness.registerNode("stranger", { ...GROWN, spec: { taints: [] } });
    await harness.registerNode("late", GROWN);
    for (const name of ["stranger", "late"]) await harness.reportReady(name, "Unknown");
    for (const name of ["stranger", "late"]) await harness.hasEvents("Node", name, "NodeDeletionDelayed");
    const before = await decisions("noProviderID");
    await eventually("each to be held again", 60_000, async () =>
      (await decisions("noProviderID")) - before >= 4 ? true : undefined,
    );
    expect(await harness.kube.find("/api/v1/nodes/stranger")).toBeDefined();
    await harness.createMachines([{ name: "late", zone: "north-a" }]);
    await harness.initialized("late", 60_000);
  });

  test("is protected by an annotation, until that is removed (case N-8)", async () => {
    const name = names[NODES - 2] ?? "";
    const path = `/api/v1/nodes/${name}`;
    await harness.kube.patch(path, { metadata: { annotations: { [PROTECTION]: "true" } } });
    await terminate([name]);
    await harness.hasEvents("Node", name, "NodeDeletionDelayed");
    const before = await decisions("deletionProtected");
    await eventually("it to be held again", 60_000, async () =>
      (await decisions("deletionProtected")) - before >= 2 ? true : undefined,
    );
    expect(await harness.kube.find(path)).toBeDefined();
    await harness.kube.patch(path, { metadata: { annotations: { [PROTECTION]: null } } });
    await gone(name, 2 * SPAN_MS + 3 * PERIOD_MS + SLACK_MS);
  });
});
