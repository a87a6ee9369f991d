import type { Logger } from "@cloudwire/provider-sdk";
import type { LibvirtConfig, LibvirtHost } from "../config/config.ts";
import { output, type RunProgram } from "../edge/run-program.ts";
import { coalesced } from "../util/coalesce.ts";
import type { MachineSource } from "./inventory-files.ts";
import { type Machine, toMachines } from "./machine.ts";
import { factCommands, parseDomains, parseFacts, toMachine } from "./parse-virsh.ts";

/** The data of one hypervisor. */
interface HostState {
  /** As of the last time it answered. */
  readonly machines: readonly Machine[];
  /** Why it did not answer; undefined: it did. */
  readonly problem: string | undefined;
}

/** Domains asked of in one call: a command line has an end. */
const domainsPerCall = 200;
/** A hypervisor that is far away, or busy. */
const timeoutMs = 20_000;

/**
 * The domains of hypervisors, read on each request. The last response of an unresponsive hypervisor is used, and nothing is
 * concluded from missing domains.
 */
export function libvirtHosts(
  config: LibvirtConfig,
  run: RunProgram,
  log: Pick<Logger, "info" | "error">,
  now: () => Date,
): MachineSource {
  const states = new Map<string, HostState>();
  const refreshHost = async (host: LibvirtHost): Promise<void> => {
    const before = states.get(host.name);
    try {
      const machines = await readHost(run, config, host);
      if (before === undefined || before.problem !== undefined)
        log.info("hypervisor answers", { host: host.name, machines: machines.length });
      states.set(host.name, { machines, problem: undefined });
    } catch (error) {
      const problem = `hypervisor ${host.name} does not return its domains`;
      const message = error instanceof Error ? error.message : String(error);
      if (before?.problem === undefined)
        log.error(`${problem}; its last response stays in use`, { host: host.name, problem: message });
      states.set(host.name, { machines: before?.machines ?? [], problem });
    }
  };
  const refresh = coalesced(() => Promise.all(config.hosts.map(refreshHost)));
  return {
    read: async () => {
      const readTime = now();
      await refresh();
      const all = [...states.values()];
      const machines = all.flatMap((state) => state.machines).toSorted((left, right) => rank(left) - rank(right));
      return toMachines(
        machines,
        readTime,
        all.flatMap(({ problem }) => problem ?? []),
      );
    },
  };
}

/** While a domain moves from one hypervisor to another both have it: what runs comes last, and stays. */
function rank({ state, stateReason }: Machine): number {
  if (state !== "RUNNING") return 0;
  return stateReason === undefined ? 2 : 1;
}

/** All domains of a hypervisor; rejects if any data is missing. */
async function readHost(
  run: RunProgram,
  { program, addressSource, networks }: LibvirtConfig,
  host: LibvirtHost,
): Promise<readonly Machine[]> {
  // Guest agents are asked over a connection that may write.
  const access = addressSource === "agent" ? [] : ["--readonly"];
  const connect = ["--quiet", ...access, "--connect", host.uri];
  const listed = await output(run, program, [...connect, "list", "--all", "--uuid", "--name"], { timeoutMs });
  const domains = parseDomains(listed);
  if (domains === undefined) throw new Error(`${program} list printed no list of domains: ${listed.slice(0, 200)}`);
  const machines: Machine[] = [];
  for (let start = 0; start < domains.length; start += domainsPerCall) {
    const some = domains.slice(start, start + domainsPerCall);
    // Its exit code is that of the last command, and a stopped domain has no addresses.
    const { stdout, stderr } = await run(program, [...connect, factCommands(some, addressSource)], { timeoutMs });
    const facts = parseFacts(stdout);
    for (const domain of some) {
      const reported = facts.get(domain.uuid);
      if (reported === undefined)
        throw new Error(`${program} returned nothing for domain ${domain.name}: ${stderr.trim().slice(0, 300)}`);
      machines.push(toMachine(domain, reported, host, networks));
    }
  }
  return machines;
}
