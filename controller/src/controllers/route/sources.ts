import { keyOf } from "../../api/meta.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { ControllerContext } from "../../runtime/registration.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import { aborted } from "../../util/abort.ts";
import { changesNetworkCondition, changesRoutes, passKey } from "./predicates.ts";

type SourcesContext = Pick<ControllerContext<unknown>, "cluster" | "providers" | "program">;

/** Nodes that come, go, or change in what their routes rest on. */
export function nodeSource({ cluster: { nodes } }: SourcesContext): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: () => true, update: changesRoutes, delete: () => true },
  });
}

/** Upstream's period: somebody else who writes the condition is answered no faster than by it. */
const CONDITION_DELAY_MS = 10_000;

/** Others write the condition too, a network plugin for one: each has the last word only for a while, and nobody spins. */
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

/**
 * One full pass for each provider that makes routes, whenever it becomes usable. Ready, and with it the controller, as soon as there
 * is one: without, nothing runs.
 */
export function providersSource({ providers, program }: SourcesContext): Source {
  const routers = (): readonly string[] =>
    providers.providers.providers.filter(({ info }) => info?.capabilities.routes !== undefined).map(({ name }) => name);
  const told = new Set<string>();
  return {
    name: "providers",
    start: (queue) => {
      const wake = (): void => {
        for (const name of routers()) queue.add(passKey(name));
        tellOthers(providers.providers.providers, program.log, told);
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

function tellOthers(providers: readonly Provider[], log: Logger, told: Set<string>): void {
  for (const { name, info } of providers) {
    if (info === undefined || info.capabilities.routes !== undefined || told.has(name)) continue;
    told.add(name);
    log.info("Routes are not managed: the provider does not support them", { provider: name });
  }
}
