import { allChecks } from "../checks/registry.ts";
import { referenceFixtures } from "../reference/provider.ts";
import { runConformance } from "../suite/run-conformance.ts";
import { NotReadyError } from "../endpoint/reach.ts";
import { withProvider } from "../endpoint/own-providers.ts";
import { formatEndpoint } from "../endpoint/endpoint.ts";
import { type Failure, type FaultOutcome, evaluateFault } from "./fault-outcome.ts";
import type { ProcessMutant } from "./mutant.ts";
import { failed, runOptions, type SelftestTarget, withRequired } from "./run-mutant.ts";

/** What stands for the kit's word that a provider is never ready, among ids of checks. */
const neverReady = "never ready";
/** For a provider that is never ready. */
const shortStartMs = 2_000;

/** The SDK looks for another certificate every 10 s, not after a minute as the contract allows: a quarter of the patience is enough. */
const tlsPatience = 0.25;

/** Ids of the checks that start providers, and see how a process lives. */
const lifeIds = allChecks.filter(({ starts }) => starts === true).map(({ id }) => id);

/** Runs the checks of a process's life on one that a command starts, and returns which failed. */
export const runProcessMutant = async (
  mutant: ProcessMutant,
  command: readonly string[],
  target: SelftestTarget,
  failingWithout: readonly string[],
): Promise<FaultOutcome> => {
  const startedMs = performance.now();
  const fails = mutant.fails.length === 0 ? [neverReady] : mutant.fails;
  const slowFactor = target.slowFactor * (mutant.transport === "tls" ? tlsPatience : 1);
  const failing = await failingOn(mutant, command, { ...target, slowFactor });
  const passing = new Set([...lifeIds, ...fails].filter((id) => !failingWithout.includes(id)));
  return evaluateFault({ mutant: { ...mutant, fails }, passing, failing, elapsedMs: performance.now() - startedMs });
};

/** Ids of the checks that fail on the process without a fault: there should be none. */
export const failingLifeChecks = async (
  command: readonly string[],
  target: SelftestTarget,
): Promise<readonly string[]> => {
  const failing = async () => [
    ...(await failingOn({ fails: lifeIds }, command, target)),
    ...(await failingOn({ fails: lifeIds, transport: "tls" }, command, target)),
  ];
  const first = await failing();
  const again = first.length === 0 ? [] : await failing();
  return first.map(({ id }) => id).filter((id) => again.some((failure) => failure.id === id));
};

const failingOn = async (
  { fails, transport }: Pick<ProcessMutant, "fails" | "transport">,
  command: readonly string[],
  target: SelftestTarget,
): Promise<readonly Failure[]> => {
  const run = transport === "tls" ? ["sec.tls.*"] : withRequired([...lifeIds, ...fails]);
  const startTimeoutMs = fails.length === 0 ? shortStartMs : target.startTimeoutMs;
  const options = { ...runOptions(target), run, startTimeoutMs, providerCommand: command };
  try {
    const report = await withProvider(
      command,
      ({ endpoint, tls }, { gone, pid }) =>
        runConformance({
          ...options,
          endpoint: formatEndpoint(endpoint),
          ...(tls && { tls }),
          fixtures: referenceFixtures,
          gone,
          ...(pid !== undefined && { providerPid: pid }),
        }),
      transport ?? "unix",
    );
    return failed(report);
  } catch (error) {
    if (error instanceof NotReadyError) return [{ id: neverReady, says: error.message }];
    throw error;
  }
};
