import { setTimeout as sleep } from "node:timers/promises";
import type { CloudClient, Instance } from "@cloudwire/provider-simulated";
import { runKubelet } from "./kubelet.ts";
import type { Kubernetes } from "./kubernetes.ts";
import { NodePorts } from "./node-ports.ts";

export interface MachinesDeps {
  readonly cloud: CloudClient;
  readonly kubernetes: Kubernetes;
  readonly now: () => Date;
  /** A kubelet that could not register. */
  readonly onFailure: (nodeName: string, error: unknown) => void;
  readonly signal: AbortSignal;
}

/** The fake of one running instance. */
interface Machine {
  readonly ports: NodePorts;
  readonly power: AbortController;
}

/** Long poll of the cloud's events. */
const WAIT_MS = 20_000;
const RETRY_MS = 1_000;

/**
 * Runs a fake kubelet for each running instance of the cloud, so that each new instance gets a Node.
 */
export class Machines {
  readonly #deps: MachinesDeps;
  readonly #machines = new Map<string, Machine>();
  #nodePorts: ReadonlySet<number> = new Set();

  constructor(deps: MachinesDeps) {
    this.#deps = deps;
  }

  /** Follows the cloud until the demo ends. */
  async run(): Promise<void> {
    const { cloud, signal } = this.#deps;
    while (!signal.aborted) {
      try {
        const { items, snapshot } = await cloud.listInstances(
          { pageSize: 1_000, consistent: true, state: ["running"] },
          signal,
        );
        this.#settle(items);
        await cloud.events({ after: snapshot, kind: ["instance"], waitMs: WAIT_MS }, signal);
      } catch {
        // The cloud cannot be reached, or the demo is stopping.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await Promise.all([...this.#machines.values()].map(switchOff));
  }

  /** Sets the ports on which every machine listens. */
  setNodePorts(ports: ReadonlySet<number>): void {
    this.#nodePorts = ports;
    for (const { ports: own } of this.#machines.values()) own.set(ports);
  }

  #settle(running: readonly Instance[]): void {
    const ids = new Set(running.map(({ id }) => id));
    for (const [id, machine] of this.#machines) {
      if (ids.has(id)) continue;
      this.#machines.delete(id);
      void switchOff(machine);
    }
    for (const instance of running) {
      if (!this.#machines.has(instance.id)) this.#machines.set(instance.id, this.#boot(instance));
    }
  }

  #boot({ name, internalAddresses: [address = "127.0.0.1"] }: Instance): Machine {
    const { kubernetes, now, onFailure, signal } = this.#deps;
    const power = new AbortController();
    const ports = new NodePorts(name, address);
    ports.set(this.#nodePorts);
    const kubelet = { kubernetes, nodeName: name, now, signal: AbortSignal.any([power.signal, signal]) };
    runKubelet(kubelet).catch((error: unknown) => {
      if (!signal.aborted) onFailure(name, error);
    });
    return { ports, power };
  }
}

async function switchOff({ ports, power }: Machine): Promise<void> {
  power.abort();
  await ports.close();
}
