import { setTimeout as wait } from "node:timers/promises";
import type { Hooks, HookVariables } from "../../suite/hooks.ts";
import { property } from "../../contract/field-rules.ts";
import { methods } from "../../contract/methods.ts";
import { runHook } from "../../suite/run-hook.ts";
import { bareError, isCall, type Mutant, requestOf } from "../mutant.ts";
import type { Intercept, ProxiedRequest } from "../mutant-proxy.ts";

const level = "X";
const patience = 0.3;

/** Numbers the calls of a connection. */
const counter = () => {
  const counts = new WeakMap<ProxiedRequest["session"], number>();
  return ({ session }: ProxiedRequest): number => {
    const count = (counts.get(session) ?? 0) + 1;
    counts.set(session, count);
    return count;
  };
};

/** The second call of a method takes four times as long as the first, the third nine times. */
const quadratic = (method: string): Intercept => {
  const count = counter();
  return async (request, next) => {
    if (isCall(request, method)) await wait(Math.min(30_000, 1_000 * count(request) ** 2), undefined, { ref: false });
    return next(request);
  };
};

/** Memory that the leaking provider keeps per version of a set. */
const keptBytes = 2 * 2 ** 20;
let kept: Buffer[] = [];

/** Adds the memory of the injected fault to that of the provider. */
const withKept = ({ procStats, ...hooks }: Hooks): Hooks => {
  kept = [];
  if (procStats === undefined) return hooks;
  const call = async (variables: HookVariables): Promise<string> => {
    const stats: unknown = JSON.parse(await runHook("procStats", procStats, variables));
    const rssBytes = Number(property(stats, "rssBytes")) + kept.length * keptBytes;
    return JSON.stringify({ rssBytes, openFiles: property(stats, "openFiles") });
  };
  return { ...hooks, procStats: { kind: "function", call } };
};

let line: Promise<unknown> = Promise.resolve();

/** Faults that are detectable only at scale. */
export const scaleMutants: readonly Mutant[] = [
  {
    name: "quadratic-batch",
    fault: "each batch takes longer than the one before",
    fails: ["scale.batch"],
    level,
    patience,
    only: ["scale.batch", "scale.list"],
    intercept: quadratic(methods.batchGetInstances.name),
  },
  {
    name: "quadratic-list",
    fault: "each page takes longer than the one before",
    fails: ["scale.list"],
    level,
    patience,
    only: ["scale.list"],
    intercept: quadratic(methods.listInstances.name),
  },
  {
    name: "set-slow",
    fault: "each chunk of a set takes longer than the one before",
    fails: ["scale.nset"],
    level,
    patience,
    only: ["scale.nset"],
    intercept: quadratic(methods.applyNodeSet.name),
  },
  {
    name: "set-leak",
    fault: "every version of a set is kept",
    fails: ["scale.memory"],
    level,
    only: ["scale.memory"],
    hooks: withKept,
    intercept: async (request, next) => {
      if (requestOf(request, methods.applyNodeSet)?.chunkIndex === 0) kept.push(Buffer.alloc(keptBytes, 1));
      return next(request);
    },
  },
  {
    name: "inline-cap-lie",
    fault: "fewer nodes are taken than max_inline_nodes says",
    fails: ["scale.inline"],
    level,
    only: ["scale.inline"],
    intercept: async (request, next) => {
      const source = requestOf(request, methods.ensureLoadBalancer)?.nodes?.source;
      const isMuch = source?.$case === "inline" && source.value.nodes.length > 200;
      return isMuch ? bareError(8, "the message is larger than 4194304 bytes") : next(request);
    },
  },
  {
    name: "per-lb-copy",
    fault: "load balancers are made one after the other, slowly",
    fails: ["scale.lbs"],
    level,
    patience,
    only: ["scale.lbs"],
    intercept: async (request, next) => {
      if (!isCall(request, methods.ensureLoadBalancer.name)) return next(request);
      const before = line;
      line = before.then(() => wait(1_000, undefined, { ref: false }));
      await line;
      return next(request);
    },
  },
];
