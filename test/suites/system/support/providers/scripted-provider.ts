import {
  absent,
  createLogger,
  type Instance,
  type InstanceBatchResult,
  type NodeRef,
  type ProviderError,
  type RunningProvider,
  startProvider,
} from "@cloudwire/provider-sdk";
import { shareWithContainers } from "../containers.ts";

export interface ScriptedOptions {
  readonly socketPath: string;
  /** Annotations of Nodes that are sent to it. */
  readonly nodeAnnotationKeys?: readonly string[];
}

/** What the "cloud" says of one Node; undefined: it goes by the machines. */
type Script = (node: NodeRef) => ProviderError | undefined;

/** A provider in the process of the test, whose cloud is a list that the test writes: what no simulated machine can do, such as move to another zone. */
export class ScriptedProvider implements AsyncDisposable {
  /** By id, that is without the prefix `acme://`. */
  readonly machines = new Map<string, Instance>();
  /** Nodes of each call, in the order of calls. */
  readonly calls: (readonly NodeRef[])[] = [];
  script: Script = () => undefined;
  #running: RunningProvider | undefined;

  static async start({ socketPath, nodeAnnotationKeys = [] }: ScriptedOptions): Promise<ScriptedProvider> {
    const scripted = new ScriptedProvider();
    scripted.#running = await startProvider(
      {
        name: "acme.example.com",
        version: "0.0.0",
        idPrefix: "acme://",
        scope: "account-1",
        check: () => undefined,
        nodeAnnotationKeys,
        instances: {
          features: { maxBatchSize: 1000, existenceConsistencyDelayMs: 0 },
          getMany: (nodes) => {
            scripted.calls.push(nodes);
            return nodes.map((node) => scripted.#answer(node));
          },
        },
      },
      {
        endpoint: { kind: "unix", path: socketPath },
        log: createLogger({ level: "error", write: () => undefined, now: () => new Date() }),
        drainMs: 100,
      },
    );
    await shareWithContainers(socketPath);
    return scripted;
  }

  /** A machine whose id is its name, unless said otherwise; what was said before holds. */
  machine(name: string, parts: Partial<Instance> = {}): void {
    const { id = name } = parts;
    // A Node without an IP address is initialized only after a wait.
    const usual: Partial<Instance> = { addresses: { InternalIP: ["10.0.0.9"] } };
    const before = this.machines.get(id) ?? usual;
    this.machines.set(id, { state: "RUNNING", ...before, ...parts, id, name: parts.name ?? name });
  }

  /** How often the Node was asked about. */
  looksAt(name: string): number {
    return this.calls.flat().filter((node) => node.name === name).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.close();
  }

  #answer(node: NodeRef): InstanceBatchResult {
    const scripted = this.script(node);
    if (scripted !== undefined) return scripted;
    const { id, name } = node;
    const found =
      id === undefined ? [...this.machines.values()].find((machine) => machine.name === name) : this.machines.get(id);
    return found ?? absent("LOOKUP_MISS", { stronglyConsistent: true });
  }
}
