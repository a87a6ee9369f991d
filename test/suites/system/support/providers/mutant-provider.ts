import { createLogger, type LoadBalancerHandlers, type RunningProvider, startProvider } from "@cloudwire/provider-sdk";
import { createSimulatedProvider } from "@cloudwire/provider-simulated";

/** What a mutant does otherwise than the simulated provider, of which it has all the rest. */
export type Mutation = (correct: LoadBalancerHandlers) => LoadBalancerHandlers;

export interface MutantOptions {
  readonly cloudUrl: string;
  readonly apiKey: string;
  readonly socketPath: string;
  readonly mutation: Mutation;
}

const CALL_MS = 10_000;

/** The simulated provider with a fault of its own, in the process of the test. */
export function startMutantProvider({
  cloudUrl,
  apiKey,
  socketPath,
  mutation,
}: MutantOptions): Promise<RunningProvider> {
  const correct = createSimulatedProvider({ url: cloudUrl, apiKey: () => apiKey, callTimeoutMs: CALL_MS });
  const { loadBalancers } = correct;
  if (loadBalancers === undefined) throw new Error("the simulated provider serves no load balancers");
  return startProvider(
    { ...correct, loadBalancers: mutation(loadBalancers) },
    {
      endpoint: { kind: "unix", path: socketPath },
      log: createLogger({ level: "error", write: () => undefined, now: () => new Date() }),
      drainMs: 100,
    },
  );
}
