import { setTimeout as sleep } from "node:timers/promises";
import type { Kubernetes } from "./kubernetes.ts";
import { describeEvent, describeNodeChange, describeServiceChange } from "../describe-changes.ts";
import type { Screen } from "../screen.ts";
import { type NodeView, type ServiceView, viewEvent, viewNode, viewService } from "./views.ts";

export interface ClusterStateDeps {
  readonly kubernetes: Kubernetes;
  readonly screen: Screen;
  /** The node ports of all Services, whenever they change. */
  readonly onNodePorts: (ports: ReadonlySet<number>) => void;
  readonly signal: AbortSignal;
}

const POLL_MS = 50;

/** The Nodes and Services of the API server, kept current. Shows each change on the screen. */
export class ClusterState {
  readonly nodes = new Map<string, NodeView>();
  readonly services = new Map<string, ServiceView>();
  readonly #deps: ClusterStateDeps;

  constructor(deps: ClusterStateDeps) {
    this.#deps = deps;
  }

  /** Follows until the demo ends. */
  async run(): Promise<void> {
    const { kubernetes } = this.#deps;
    await Promise.all([
      kubernetes.follow("/api/v1/nodes", (before, after) => this.#node(before, after)),
      kubernetes.follow("/api/v1/services", (before, after) => this.#service(before, after)),
      kubernetes.follow("/api/v1/events", (_before, after) => {
        if (after !== undefined) this.#deps.screen.show(describeEvent(viewEvent(after)));
      }),
    ]);
  }

  /** Waits until the condition is true; throws after the timeout, with a description of the condition. */
  async until(description: string, timeoutMs: number, condition: (world: ClusterState) => boolean): Promise<void> {
    const { signal } = this.#deps;
    const endMs = performance.now() + timeoutMs;
    while (!condition(this)) {
      if (performance.now() > endMs) throw new Error(`${description}: did not happen within ${timeoutMs / 1_000} s`);
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  #node(before: unknown, after: unknown): void {
    const [was, is] = [before, after].map((node) => (node === undefined ? undefined : viewNode(node)));
    if (is !== undefined) this.nodes.set(is.name, is);
    else if (was !== undefined) this.nodes.delete(was.name);
    describeNodeChange(was, is).forEach(this.#deps.screen.show);
  }

  #service(before: unknown, after: unknown): void {
    const [was, is] = [before, after].map((service) => (service === undefined ? undefined : viewService(service)));
    if (is !== undefined) this.services.set(is.key, is);
    else if (was !== undefined) this.services.delete(was.key);
    describeServiceChange(was, is).forEach(this.#deps.screen.show);
    const ports = [...this.services.values()].flatMap((service) => service.ports.map(({ nodePort }) => nodePort));
    this.#deps.onNodePorts(new Set(ports.filter((port) => port !== 0)));
  }
}
