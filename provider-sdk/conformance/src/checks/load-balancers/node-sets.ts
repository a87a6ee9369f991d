import { randomUUID } from "node:crypto";
import type { ApplyNodeSetResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { methods } from "../../contract/methods.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import type { Check, CheckContext } from "../../suite/check.ts";
import { errorProblem, expectError, expectOk, fail, show } from "../../suite/expect.ts";
import { withLife } from "../process/lifecycle.ts";
import { expectPresent } from "./load-balancers.ts";
import { fingerprintOf, fixtureNode, inline, lifeMs, withBalancer } from "./test-balancer.ts";

/** Sets live in the provider's memory: nothing of the cloud's is changed. */
const inMemory = { level: "S", profile: "loadbalancer", capability: "load_balancers.node_sets" } as const;
const withCloud = {
  ...inMemory,
  level: "M",
  exclusive: true,
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active"],
} as const;

interface Chunk {
  readonly index?: number;
  readonly of?: number;
  readonly base?: string;
  readonly target: string;
  /** Numbers of the nodes. */
  readonly nodes: readonly number[];
  readonly removed?: readonly number[];
  readonly count: number;
}

const providerIdOf = ({ info }: CheckContext, number: number): string =>
  `${info.providerIdPrefixes[0] ?? "none://"}conformance-${number}`;

/** A set of a check's own, and its chunks. */
const newSet = (context: CheckContext, id = `conformance-${randomUUID()}`) => {
  const apply = ({ index = 0, of = 1, base = "", target, nodes, removed = [], count }: Chunk) =>
    context.caller.call(methods.applyNodeSet, {
      context: context.callContext,
      nodeSetId: id,
      baseFingerprint: base,
      targetFingerprint: target,
      chunkIndex: index,
      chunkCount: of,
      upserts: nodes.map((number) => ({ name: `node-${number}`, providerId: providerIdOf(context, number) })),
      removedProviderIds: removed.map((number) => providerIdOf(context, number)),
      targetCount: count,
    });
  return {
    id,
    apply,
    /** Fails unless the chunk is taken and the set then is as said. */
    expect: async (chunk: Chunk, expected: ApplyNodeSetResponse): Promise<void> => {
      const called = await apply(chunk);
      const { fingerprint, count, committed } = expectOk(called, "a chunk is refused").response;
      const got = { fingerprint, count, committed };
      if (show(got) !== show(expected))
        fail({
          message: "the set is not as it should be",
          expected: show(expected),
          got: show(got),
          exchange: called.exchange,
        });
    },
  };
};

const state = (fingerprint: string, count: number, committed = true): ApplyNodeSetResponse => ({
  fingerprint,
  count,
  committed,
});
const nothing = state("", 0, false);

const chunks: readonly Check[] = [
  {
    ...inMemory,
    id: "nset.full",
    title: "a set is in force with its last chunk, and not before",
    rules: ["NST-2"],
    why: "Half a set taken for the whole takes the other half of the nodes out of every load balancer.",
    run: async (context) => {
      const set = newSet(context);
      await set.expect({ index: 0, of: 3, target: "a", nodes: [1, 2], count: 5 }, nothing);
      await set.expect({ index: 1, of: 3, target: "a", nodes: [3, 4], count: 5 }, nothing);
      await set.expect({ index: 2, of: 3, target: "a", nodes: [5], count: 5 }, state("a", 5));
    },
  },
  {
    ...inMemory,
    id: "nset.order",
    title: "chunks are taken in any order, and more than once",
    rules: ["NST-2"],
    why: "They are sent side by side, and again when an answer was lost.",
    run: async (context) => {
      const set = newSet(context);
      for (const index of [2, 0, 2, 0])
        await set.expect({ index, of: 3, target: "a", nodes: [index], count: 3 }, nothing);
      await set.expect({ index: 1, of: 3, target: "a", nodes: [1], count: 3 }, state("a", 3));
      await set.expect({ index: 1, of: 3, target: "a", nodes: [1], count: 3 }, state("a", 3));
    },
  },
  {
    ...inMemory,
    id: "nset.delta",
    title: "a difference changes the set that it is against",
    rules: ["NST-2", "NST-3"],
    why: "With thousands of nodes a single change must not require the whole set.",
    run: async (context) => {
      const set = newSet(context);
      await set.expect({ target: "a", nodes: [1, 2, 3], count: 3 }, state("a", 3));
      await set.expect({ base: "a", target: "b", nodes: [4, 5], removed: [1], count: 4 }, state("b", 4));
    },
  },
  {
    ...inMemory,
    id: "nset.base-mismatch",
    title: "a difference against another base is NODE_SET_BASE_MISMATCH and changes nothing",
    rules: ["NST-3"],
    why: "Applied anyway, it creates a set that no client requested.",
    run: async (context) => {
      const set = newSet(context);
      const wanted = { codes: [9], reasons: ["NODE_SET_BASE_MISMATCH"] };
      expectError(await set.apply({ base: "a", target: "b", nodes: [1], count: 1 }), wanted, "a base of nothing");
      await set.expect({ target: "a", nodes: [1, 2], count: 2 }, state("a", 2));
      expectError(await set.apply({ base: "x", target: "b", nodes: [3], count: 3 }), wanted, "another base");
      await set.expect({ base: "a", target: "c", nodes: [3], count: 3 }, state("c", 3));
    },
  },
  {
    ...inMemory,
    id: "nset.count-mismatch",
    title: "a set that does not have target_count nodes is NODE_SET_INTEGRITY and changes nothing",
    rules: ["NST-3"],
    why: "A node that was lost in transit loses its traffic without any message.",
    run: async (context) => {
      const set = newSet(context);
      const wanted = { codes: [15], reasons: ["NODE_SET_INTEGRITY"] };
      expectError(await set.apply({ target: "a", nodes: [1, 2], count: 3 }), wanted, "two nodes that should be three");
      await set.expect({ target: "b", nodes: [1, 2], count: 2 }, state("b", 2));
      const short = { base: "b", target: "c", nodes: [3], count: 2 };
      expectError(await set.apply(short), wanted, "three nodes that should be two");
      await set.expect({ base: "b", target: "d", nodes: [3], count: 3 }, state("d", 3));
    },
  },
  {
    ...inMemory,
    id: "nset.many",
    title: "as many sets are kept as the handshake says, up to 64 of them tried",
    rules: ["NST-1", "INF-3"],
    why: "A set that is forgotten too soon is uploaded again and again.",
    run: async (context) => {
      const count = Math.min(64, context.info.capabilities?.loadBalancers?.nodeSets?.maxSets ?? 8);
      const sets = Array.from({ length: count }, () => newSet(context));
      for (const set of sets) await set.expect({ target: "a", nodes: [1], count: 1 }, state("a", 1));
      for (const set of sets) await set.expect({ base: "a", target: "b", nodes: [2], count: 2 }, state("b", 2));
    },
    exclusive: true,
  },
];

const references: readonly Check[] = [
  {
    ...withCloud,
    id: "nset.unknown-ref",
    title: "a load balancer of a set that is not known, or not at that fingerprint, is refused with NODE_SET_UNKNOWN",
    rules: ["NST-4", "LB-9"],
    why: "After a restart the provider knows no set; read as empty, every load balancer loses its nodes.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const { nodesFingerprint } = await balancer.converge();
        const set = newSet(context);
        const nodes = { fingerprint: "a", count: 1, source: { $case: "nodeSetId", value: set.id } } as const;
        const wanted = { codes: [9], reasons: ["NODE_SET_UNKNOWN"] };
        expectError(await balancer.ensure({ nodes }), wanted, "a set that no client has uploaded");
        await set.expect({ of: 2, target: "a", nodes: [1], count: 1 }, nothing);
        expectError(await balancer.ensure({ nodes }), wanted, "a set that lacks a chunk");
        await set.expect({ target: "b", nodes: [1], count: 1 }, state("b", 1));
        expectError(await balancer.ensure({ nodes }), wanted, "a set at another fingerprint");
        const after = await expectPresent(balancer, "it is gone");
        if (after.nodesFingerprint !== nodesFingerprint) fail({ message: "its nodes are others now" });
      }),
  },
  {
    ...withCloud,
    id: "nset.atomic",
    title: "while the chunks of a difference come in, the set is what it was, and then the new one",
    rules: ["NST-2"],
    why: "A load balancer that is made meanwhile gets half of the nodes.",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const set = newSet(context);
        const at = (fingerprint: string, count: number) =>
          ({ fingerprint, count, source: { $case: "nodeSetId", value: set.id } }) as const;
        await set.expect({ target: "a", nodes: [1], count: 1 }, state("a", 1));
        await balancer.converge({ nodes: at("a", 1) });
        await set.expect({ of: 2, base: "a", target: "b", nodes: [2], count: 3 }, state("a", 1, false));
        await balancer.converge({ ports: [443], nodes: at("a", 1) });
        const wanted = { codes: [9], reasons: ["NODE_SET_UNKNOWN"] };
        expectError(await balancer.ensure({ nodes: at("b", 3) }), wanted, "a set that lacks a chunk");
        await set.expect({ index: 1, of: 2, base: "a", target: "b", nodes: [3], count: 3 }, state("b", 3));
        await balancer.converge({ nodes: at("b", 3) });
      }),
  },
  {
    ...withCloud,
    id: "nset.same-as-inline",
    title: "nodes by reference make the same load balancer as nodes inline",
    rules: ["NST-1"],
    why: "The controller takes either way, by the number of nodes.",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const node = fixtureNode(context);
        const nodes = inline(node);
        const spelledOut = await balancer.converge({ nodes });
        const { id } = newSet(context);
        const fingerprint = fingerprintOf([node]);
        const upload = {
          nodeSetId: id,
          targetFingerprint: fingerprint,
          chunkCount: 1,
          upserts: [node],
          targetCount: 1,
        };
        const request = { context: context.callContext, ...upload };
        expectOk(await context.caller.call(methods.applyNodeSet, request), "the set is refused");
        const source = { $case: "nodeSetId", value: id } as const;
        const referred = await balancer.converge({ nodes: { ...nodes, source } });
        const of = (one: typeof referred) => show([one.id, one.nodesFingerprint, one.registeredNodes]);
        if (of(referred) !== of(spelledOut))
          fail({ message: "they are not the same", expected: of(spelledOut), got: of(referred) });
      }),
  },
];

/** Sets of nodes that are uploaded once and referred to. */
export const nodeSetChecks: readonly Check[] = [...chunks, ...references];

/** Sets of nodes and the end of the process that keeps them. */
export const nodeSetRestartChecks: readonly Check[] = [
  {
    level: "D",
    profile: "loadbalancer",
    capability: "load_balancers.node_sets",
    requires: ["nset.delta", "proc.kill.recover"],
    starts: true,
    exclusive: true,
    timeoutMs: 60_000,
    id: "nset.restart",
    title: "after a restart a set is not known, or is what it was, and never empty",
    rules: ["NST-4"],
    why: "A set that is taken for empty takes every node out of every load balancer.",
    run: async (context) => {
      const { id, socketPath } = await withLife(context, undefined, async ({ own, context: life }) => {
        const set = newSet(life);
        await set.expect({ target: "a", nodes: [1, 2, 3], count: 3 }, { fingerprint: "a", count: 3, committed: true });
        own.process.signal("SIGKILL");
        await own.process.ended;
        return { id: set.id, socketPath: own.socketPath };
      });
      await withLife(context, socketPath, async ({ context: life }) => {
        const called = await newSet(life, id).apply({ base: "a", target: "b", nodes: [4], count: 4 });
        const { exchange } = called;
        const wanted = { codes: [9], reasons: ["NODE_SET_BASE_MISMATCH"] };
        if (called.kind === "error" && errorProblem(called.error, wanted) === undefined) return;
        const kept = called.kind === "ok" && called.response.committed && called.response.count === 4;
        if (!kept)
          fail({
            message: "a difference against a set from before the restart is neither refused nor applied",
            expected: "NODE_SET_BASE_MISMATCH, or 4 nodes",
            got: called.kind === "ok" ? show(called.response) : outcomeLine(called),
            exchange,
          });
      });
    },
  },
];
