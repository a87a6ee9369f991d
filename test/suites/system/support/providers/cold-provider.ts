import { absent, createLogger, type RunningProvider, startProvider } from "@cloudwire/provider-sdk";
import { createSimulatedProvider } from "@cloudwire/provider-simulated";
import { shareWithContainers } from "../containers.ts";
import { API_KEY, type Harness } from "../harness.ts";

/**
 * The simulated cloud's sidecar as a careless vendor would write it, in the process of the test: it answers from a cache before that
 * is filled, and swears that what it does not find is absent. The contract forbids exactly that ([ABS-2]).
 *
 * @param isCached by the Node's name, and how often it was asked for before
 */
export async function startColdProvider(
  harness: Harness,
  isCached: (name: string, askedBefore: number) => boolean,
): Promise<RunningProvider> {
  const definition = createSimulatedProvider({ url: harness.cloudUrl, apiKey: () => API_KEY, callTimeoutMs: 10_000 });
  const { instances } = definition;
  if (instances?.getMany === undefined) throw new Error("the simulated provider does not serve batches any more");
  const { getMany } = instances;
  const asked = new Map<string, number>();
  const running = await startProvider(
    {
      ...definition,
      instances: {
        ...instances,
        getMany: async (nodes, context) => {
          const warm = await getMany(nodes, context);
          return nodes.flatMap(({ name }, index) => {
            const before = asked.get(name) ?? 0;
            asked.set(name, before + 1);
            const answer = isCached(name, before) ? warm[index] : absent("LOOKUP_MISS", { stronglyConsistent: true });
            return answer ?? [];
          });
        },
      },
    },
    {
      endpoint: { kind: "unix", path: harness.socket },
      log: createLogger({ level: "error", write: () => undefined, now: () => new Date() }),
      drainMs: 100,
    },
  );
  await shareWithContainers(harness.socket);
  return running;
}
