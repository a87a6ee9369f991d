import { keyOf } from "../../api/meta.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { ControllerContext } from "../../runtime/registration.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import { aborted } from "../../util/abort.ts";
import { deepEqual } from "../../util/equal.ts";
import type { NodeIndex } from "./node-index.ts";
import type { Claim } from "./plan/claims.ts";
import { changesNetworkCondition, changesRoutes, passKey } from "./predicates.ts";

type SourcesContext = Pick<ControllerContext<unknown>, "cluster" | "providers" | "program">;

export function nodeSource({ cluster: { nodes } }: SourcesContext): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: () => true, update: changesRoutes, delete: () => true },
  });
}

/** Keeps the index, and enqueues the Nodes that claim what another Node no longer has. */
export function claimSource({ cluster: { nodes } }: SourcesContext, index: NodeIndex): Source {
  return {
    name: "pod CIDRs",
    ready: (signal) => nodes.whenSynced(signal),
    start: (queue) => {
      const wake = (freed: readonly Claim[]): void => {
        for (const { cidr } of freed) for (const { node } of index.overlapping(cidr)) queue.add(node);
      };
      return nodes.addHandler({
        onAdd: (node) => void index.note(node),
        onUpdate: (old, node) => {
          if (!changesRoutes(old, node)) return;
          const freed = index.note(node);
          if (!deepEqual(old.spec.podCIDRs, node.spec.podCIDRs)) wake(freed);
        },
        onDelete: (node) => wake(index.forget(keyOf(node))),
      });
    },
  };
}

/** Upstream's period. Network plugins write the condition too: the delay prevents a write loop. */
const CONDITION_DELAY_MS = 10_000;

export function conditionSource({ cluster: { nodes } }: SourcesContext): Source {
  return {
    name: "network conditions",
    ready: () => Promise.resolve(),
    start: (queue) =>
      nodes.addHandler({
        onUpdate: (old, node) => {
          if (!changesNetworkCondition(old, node)) return;
          queue.addAfter(keyOf(node), CONDITION_DELAY_MS, { priority: "low" });
        },
      }),
  };
}

/** Enqueues a full pass of each provider that serves routes when it becomes ready. The controller starts with the first of them. */
export function providersSource({ providers, program }: SourcesContext): Source {
  const routers = (): readonly string[] =>
    providers.providers.providers.filter(({ info }) => info?.capabilities.routes !== undefined).map(({ name }) => name);
  const reported = new Set<string>();
  return {
    name: "providers",
    start: (queue) => {
      const wake = (): void => {
        for (const name of routers()) queue.add(passKey(name));
        reportOthers(providers.providers.providers, program.log, reported);
      };
      wake();
      return providers.onReady(wake);
    },
    ready: async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (routers().length > 0) resolve();
      };
      const end = providers.onReady(check);
      check();
      try {
        await Promise.race([promise, aborted(signal)]);
      } finally {
        end();
      }
      signal.throwIfAborted();
    },
  };
}

function reportOthers(providers: readonly Provider[], log: Logger, reported: Set<string>): void {
  for (const { name, info } of providers) {
    if (info === undefined || info.capabilities.routes !== undefined || reported.has(name)) continue;
    reported.add(name);
    log.info("Routes are not managed: the provider does not support them", { provider: name });
  }
}
