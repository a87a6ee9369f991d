import { setTimeout as sleep } from "node:timers/promises";
import type { Kubernetes } from "./kubernetes.ts";
import { narrateEvent, narrateNode, narrateService } from "../describe-changes.ts";
import type { Screen } from "../screen.ts";
import { type NodeView, type ServiceView, viewEvent, viewNode, viewService } from "./views.ts";

export interface WorldDeps {
  readonly kubernetes: Kubernetes;
  readonly screen: Screen;
  /** The node ports of all Services, whenever they change. */
  readonly onNodePorts: (ports: ReadonlySet<number>) => void;
  readonly signal: AbortSignal;
}

const POLL_MS = 50;

/** What the API server shows, followed as it changes, each change told as it happens. */
export class World {
  readonly nodes = new Map<string, NodeView>();
  readonly services = new Map<string, ServiceView>();
  readonly #deps: WorldDeps;

  constructor(deps: WorldDeps) {
    this.#deps = deps;
  }

  /** Follows until the demo ends. */
  async run(): Promise<void> {
    const { kubernetes } = this.#deps;
    await Promise.all([
      kubernetes.follow("/api/v1/nodes", (before, after) => this.#node(before, after)),
      kubernetes.follow("/api/v1/services", (before, after) => this.#service(before, after)),
      kubernetes.follow("/api/v1/events", (_before, after) => {
        if (after !== undefined) this.#deps.screen.tell(narrateEvent(viewEvent(after)));
      }),
    ]);
  }

  /** Waits until the condition holds; throws, saying what was waited for, when it takes too long. */
  async until(what: string, timeoutMs: number, condition: (world: World) => boolean): Promise<void> {
    const { signal } = this.#deps;
    const endMs = performance.now() + timeoutMs;
    while (!condition(this)) {
      if (performance.now() > endMs) throw new Error(`${what} did not happen within ${timeoutMs / 1_000} s`);
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  #node(before: unknown, after: unknown): void {
    const [was, is] = [before, after].map((node) => (node === undefined ? undefined : viewNode(node)));
    if (is !== undefined) this.nodes.set(is.name, is);
    else if (was !== undefined) this.nodes.delete(was.name);
    narrateNode(was, is).forEach(this.#deps.screen.tell);
  }

  #service(before: unknown, after: unknown): void {
    const [was, is] = [before, after].map((service) => (service === undefined ? undefined : viewService(service)));
    if (is !== undefined) this.services.set(is.key, is);
    else if (was !== undefined) this.services.delete(was.key);
    narrateService(was, is).forEach(this.#deps.screen.tell);
    const ports = [...this.services.values()].flatMap((service) => service.ports.map(({ nodePort }) => nodePort));
    this.#deps.onNodePorts(new Set(ports.filter((port) => port !== 0)));
  }
}
