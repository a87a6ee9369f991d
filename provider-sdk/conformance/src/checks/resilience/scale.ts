import { createHash, randomUUID } from "node:crypto";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import { type Check, type CheckContext, oncePerRun } from "../../suite/check.ts";
import { expectOk, fail } from "../../suite/expect.ts";
import { HookError } from "../../suite/hooks.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { methods } from "../../contract/methods.ts";
import { TestBalancer, withBalancer } from "../load-balancers/test-balancer.ts";

const base = {
  level: "X",
  profile: "scale-15k",
  fixtures: ["scale"],
  exclusive: true,
  timeoutMs: 600_000,
} as const;

/** The largest clusters that Kubernetes is made for, and some more. */
const mostNodes = 15_000;
const mostBalancers = 200;
/** However little there is, a busy machine needs some time. */
const leastMs = 2_000;
/** The contract's limit of any answer. */
const maxResponseBytes = 2 ** 20;

const sizeOf = ({ fixtures: { scale = {} } }: CheckContext) => ({
  instances: scale.instances ?? mostNodes,
  nodes: scale.nodes ?? mostNodes,
  loadBalancers: scale.loadBalancers ?? mostBalancers,
});

/** Time for as much as there is, of the time for the most. */
const share = (context: CheckContext, forMostMs: number, count: number, most: number): number =>
  Math.max(leastMs, (forMostMs * count) / most) * context.slowFactor;

const expectWithin = (what: string, startedMs: number, limitMs: number): void => {
  const elapsedMs = performance.now() - startedMs;
  if (elapsedMs > limitMs)
    fail({ message: `${what} take too long`, expected: `${limitMs.toFixed(0)} ms`, got: `${elapsedMs.toFixed(0)} ms` });
};

interface Machine {
  readonly name: string;
  readonly providerId: string;
}

/** Every instance, page by page; stops when the time is up. */
const listAll = async (context: CheckContext, limitMs: number): Promise<readonly Machine[]> => {
  const startedMs = performance.now();
  const found: Machine[] = [];
  let pageToken = "";
  do {
    const request = { context: context.callContext, pageSize: 0, pageToken };
    const called = await context.caller.call(methods.listInstances, request);
    const { response, bytes } = expectOk(called, "a page is refused");
    if (bytes.length > maxResponseBytes)
      fail({ message: "a page is too large", expected: "at most 1 MiB", got: `${bytes.length} bytes` });
    found.push(...response.instances.map(({ name, providerId }) => ({ name, providerId })));
    pageToken = response.nextPageToken;
    expectWithin(`${found.length} machines of a list`, startedMs, limitMs);
  } while (pageToken !== "");
  return found;
};

/** Machines to work with: those of the list, else the configured one over and over. */
const machines = oncePerRun(async (context): Promise<readonly Machine[]> => {
  const { instances } = sizeOf(context);
  const { instance } = context.fixtures;
  if (isClaimed(context.info.capabilities, "instances.list")) {
    const listed = await listAll(context, 600_000);
    if (listed.length < instances)
      throw new HookError(`scale.instances is ${instances}, and the provider lists ${listed.length} machines`);
    return listed;
  }
  if (instance === undefined) throw new HookError("the configuration has no instance");
  return Array.from({ length: instances }, () => ({ name: instance.nodeName, providerId: instance.providerId }));
});

/** Asks for all machines in full batches, a few at once, and compares the IDs. */
const getAll = async (context: CheckContext, all: readonly Machine[], limitMs: number): Promise<void> => {
  const size = context.info.capabilities?.instances?.maxBatchSize ?? 100;
  const batches = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
  const startedMs = performance.now();
  const worker = async (): Promise<void> => {
    for (let nodes = batches.pop(); nodes !== undefined; nodes = batches.pop()) {
      const called = await context.caller.call(methods.batchGetInstances, {
        context: context.callContext,
        nodes: nodes.map((node) => ({ ...node })),
        maxDataAge: {},
      });
      const { results } = expectOk(called, "a batch is refused").response;
      const wrong = nodes.findIndex(({ providerId }, index) => {
        const outcome = results[index]?.outcome;
        return outcome?.$case !== "instance" || !isSameInstance(outcome.value.providerId, providerId);
      });
      if (wrong >= 0) fail({ message: "a machine of the list is not found", expected: nodes[wrong]?.providerId ?? "" });
      expectWithin(`batches of ${all.length} machines`, startedMs, limitMs);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
};

const fingerprintOf = (nodes: readonly Machine[]): string =>
  createHash("sha256").update(JSON.stringify(nodes)).digest("hex").slice(0, 32);

/** Machines that there are, and then some that there are not. */
const targets = async (context: CheckContext, count: number): Promise<readonly Machine[]> => {
  const real = isClaimed(context.info.capabilities, "instances.list") ? await machines(context) : [];
  return Array.from({ length: count }, (_, index) => real[index] ?? madeUp(context, index));
};

const madeUp = ({ info }: CheckContext, index: number): Machine => ({
  name: `conformance-${index}`,
  providerId: `${info.providerIdPrefixes[0] ?? "none://"}conformance-${index}`,
});

/** Nodes of one chunk of a set. */
const chunkNodes = 1_000;

/** Uploads a set in chunks. */
const upload = async (context: CheckContext, id: string, nodes: readonly Machine[], base = ""): Promise<void> => {
  const chunks = Math.max(1, Math.ceil(nodes.length / chunkNodes));
  const target = fingerprintOf(nodes);
  let committed = false;
  for (let index = 0; index < chunks; index++) {
    const called = await context.caller.call(methods.applyNodeSet, {
      context: context.callContext,
      nodeSetId: id,
      baseFingerprint: base,
      targetFingerprint: target,
      chunkIndex: index,
      chunkCount: chunks,
      upserts: nodes.slice(index * chunkNodes, (index + 1) * chunkNodes).map((node) => ({ ...node })),
      targetCount: nodes.length,
    });
    committed = expectOk(called, `chunk ${index} is refused`).response.committed;
  }
  if (!committed) fail({ message: `a set of ${nodes.length} nodes is not in force with its last chunk` });
};

const reads: readonly Check[] = [
  {
    ...base,
    id: "scale.batch",
    title: "15,000 machines are asked for in full batches within 60 s, each answered rightly",
    rules: ["BAT-1", "BAT-5"],
    why: "The controller does it every five minutes in the largest clusters. Usually a batch is looked up item by item, or each item by walking a list.",
    capability: "instances",
    run: async (context) => {
      const all = (await machines(context)).slice(0, sizeOf(context).instances);
      await getAll(context, all, share(context, 60_000, all.length, mostNodes));
    },
  },
  {
    ...base,
    id: "scale.list",
    title: "15,000 machines are listed within 60 s, each once, in pages of at most 1 MiB",
    rules: ["LST-1"],
    why: "Until the list is through, the controller knows nothing for certain. Usually each page reads the cloud from the start.",
    capability: "instances.list",
    run: async (context) => {
      const { instances } = sizeOf(context);
      const all = await listAll(context, share(context, 60_000, instances, mostNodes));
      const different = new Set(all.map(({ providerId }) => providerId)).size;
      if (different !== all.length || all.length < instances)
        fail({
          message: "the list is not whole",
          expected: `at least ${instances} machines, each once`,
          got: `${all.length}, of which ${different} differ`,
        });
    },
  },
];

const sets: readonly Check[] = [
  {
    ...base,
    id: "scale.nset",
    title: "a set of 15,000 nodes is in force within 5 s, and 1 % of it changed within 500 ms",
    rules: ["NST-2"],
    why: "Every Node that comes or goes changes the set of all load balancers. Usually the whole set is copied or sorted with each chunk.",
    capability: "load_balancers.node_sets",
    run: async (context) => {
      const { nodes: count } = sizeOf(context);
      const nodes = Array.from({ length: count }, (_, index) => madeUp(context, index));
      const id = `conformance-${randomUUID()}`;
      const startedMs = performance.now();
      await upload(context, id, nodes);
      expectWithin(`chunks of ${count} nodes`, startedMs, share(context, 5_000, count, mostNodes));
      // Three tries: a machine that is busy with something else gets more chances.
      const tries: number[] = [];
      let before = fingerprintOf(nodes);
      for (let round = 1; round <= 3; round++) {
        const more = Array.from({ length: Math.ceil(count / 100) }, (_, index) => ({
          ...madeUp(context, index),
          name: `conformance-${index}-${round}`,
        }));
        const after = `${before.slice(0, 24)}-${round}`;
        const tryMs = performance.now();
        const called = await context.caller.call(methods.applyNodeSet, {
          context: context.callContext,
          nodeSetId: id,
          baseFingerprint: before,
          targetFingerprint: after,
          chunkCount: 1,
          upserts: more,
          targetCount: count,
        });
        expectOk(called, "a difference is refused");
        tries.push(performance.now() - tryMs);
        before = after;
      }
      const bestMs = Math.min(...tries);
      const limitMs = 500 * context.slowFactor;
      if (bestMs > limitMs)
        fail({ message: "a difference takes too long", expected: `${limitMs} ms`, got: `${bestMs.toFixed(0)} ms` });
    },
  },
  {
    ...base,
    id: "scale.memory",
    title: "ten rounds of lists, batches and sets use at most 10 % more memory than the ten before",
    rules: ["NST-1", "TRN-8"],
    why: "A leak ends the provider at the busiest hour. Usually every version of a set is kept, or every page token.",
    capability: "instances",
    hooks: ["procStats"],
    run: async (context) => {
      const all = await machines(context);
      const hasSets = isClaimed(context.info.capabilities, "load_balancers.node_sets");
      const nodes = Array.from({ length: sizeOf(context).nodes }, (_, index) => madeUp(context, index));
      const id = `conformance-${randomUUID()}`;
      const round = async (number: number): Promise<void> => {
        await getAll(context, all, 600_000);
        if (isClaimed(context.info.capabilities, "instances.list")) await listAll(context, 600_000);
        if (hasSets) await upload(context, id, [{ ...madeUp(context, 0), name: `round-${number}` }, ...nodes.slice(1)]);
      };
      // A heap grows until its collector is satisfied; a leak never stops.
      const seen: number[] = [];
      for (let block = 0; block < memoryBlocks; block++) {
        for (let number = 0; number < 10; number++) await round(block * 10 + number);
        const { rssBytes } = await context.hooks.procStats();
        const before = seen.at(-1);
        seen.push(rssBytes);
        if (before !== undefined && rssBytes <= Math.max(before * 1.1, before + freeGrowthBytes)) return;
      }
      fail({
        message: "memory grows with every ten rounds",
        expected: "at most 10 % more, or 16 MiB, after one of them",
        got: seen.map(mib).join(", then "),
      });
    },
  },
];

const memoryBlocks = 5;
/** What is no growth however small the process is. */
const freeGrowthBytes = 16 * 2 ** 20;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const balancers: readonly Check[] = [
  {
    ...base,
    id: "scale.inline",
    title: "as many nodes as max_inline_nodes says are taken in one Ensure",
    rules: ["LIM-2", "NST-1"],
    why: "The controller sends so many. Usually the server's limit of a message is still the default of gRPC, 4 MiB.",
    capability: "load_balancers",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const reported = context.info.limits?.maxInlineNodes ?? 0;
        const nodes = await targets(context, Math.min(reported === 0 ? mostNodes : reported, sizeOf(context).nodes));
        const value = { nodes: nodes.map((node) => ({ ...node })) };
        const source = { $case: "inline", value } as const;
        await balancer.converge({ nodes: { fingerprint: fingerprintOf(nodes), count: nodes.length, source } });
      }),
  },
  {
    ...base,
    id: "scale.lbs",
    title: "200 load balancers of one set of nodes are made within 120 s",
    rules: ["NST-1", "CON-2"],
    why: "So long do the users of a cluster wait after a disaster. Usually each load balancer copies the set, one after the other.",
    capability: "load_balancers.node_sets",
    timeoutMs: 1_300_000,
    run: async (context) => {
      const { loadBalancers, nodes: count } = sizeOf(context);
      const nodes = await targets(context, Math.min(count, 1_000));
      const id = `conformance-${randomUUID()}`;
      await upload(context, id, nodes);
      const source = { $case: "nodeSetId", value: id } as const;
      const desired = { nodes: { fingerprint: fingerprintOf(nodes), count: nodes.length, source } };
      const all = Array.from({ length: loadBalancers }, () => new TestBalancer(context));
      const limitMs = share(context, 120_000, loadBalancers, mostBalancers);
      const startedMs = performance.now();
      try {
        await withWorkers(context, all, async (balancer) => {
          const called = await balancer.ensure(desired);
          expectOk(called, "a load balancer is refused");
          expectWithin(`${loadBalancers} load balancers`, startedMs, limitMs);
        });
      } finally {
        await withWorkers(context, all, (balancer) => balancer.remove().catch(() => undefined));
      }
    },
  },
];

/** As many at once as the provider lets the controller change. */
const withWorkers = async (
  { info }: CheckContext,
  all: readonly TestBalancer[],
  work: (balancer: TestBalancer) => Promise<void>,
): Promise<void> => {
  const waiting = [...all];
  const worker = async (): Promise<void> => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await work(one);
  };
  const workers = Math.max(1, Math.min(20, info.capabilities?.loadBalancers?.maxConcurrentChanges ?? 4));
  await Promise.all(Array.from({ length: workers }, worker));
};

/** As much as the largest clusters have; how much there is, the configuration says. */
export const scaleChecks: readonly Check[] = [...reads, ...sets, ...balancers];
