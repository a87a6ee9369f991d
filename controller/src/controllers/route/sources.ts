import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import { aborted } from "../../util/abort.ts";
import { changesNetworkCondition, changesRoutes, passKey } from "./predicates.ts";

export interface SourcesDependencies {
  readonly nodes: Informer<Node>;
  readonly providers: Pick<ProviderSet, "providers">;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly log: Logger;
}

/** Nodes that come, go, or change in what their routes rest on. */
export function nodeSource({ nodes }: SourcesDependencies): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: () => true, update: changesRoutes, delete: () => true },
  });
}

/** Upstream's period: somebody else who writes the condition is answered no faster than by it. */
const CONDITION_DELAY_MS = 10_000;

/** Others write the condition too, a network plugin for one: each has the last word only for a while, and nobody spins. */
export function conditionSource({ nodes }: SourcesDependencies): Source {
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

/**
 * One full pass for each provider that makes routes, whenever it becomes usable. Ready, and with it the controller, as soon as there
 * is one: without, nothing runs.
 */
export function providersSource(deps: SourcesDependencies): Source {
  const { onProviderReady } = deps;
  const told = new Set<string>();
  return {
    name: "providers",
    start: (queue) => {
      const wake = (): void => {
        for (const name of routers(deps)) queue.add(passKey(name));
        tellOthers(deps, told);
      };
      wake();
      return onProviderReady(wake);
    },
    ready: async (signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => {
        if (routers(deps).length > 0) resolve();
      };
      const end = onProviderReady(check);
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

function routers({ providers }: SourcesDependencies): readonly string[] {
  return providers.providers.filter(({ info }) => info?.capabilities.routes !== undefined).map(({ name }) => name);
}

function tellOthers({ providers, log }: SourcesDependencies, told: Set<string>): void {
  for (const { name, info } of providers.providers) {
    if (info === undefined || info.capabilities.routes !== undefined || told.has(name)) continue;
    told.add(name);
    log.info("Routes are not managed: the provider serves none", { provider: name });
  }
}
