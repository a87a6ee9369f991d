import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { at, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import type { BridgedHarness } from "./bridged-harness.ts";

const CALL_MS = 20_000;

/** The methods that say whether a machine exists and what it is, of both generations of the interface. */
const MACHINE_METHODS = ["InstanceExists", "InstanceMetadata", "InstanceID"] as const;

/** The bridged fake cloud of test/programs/bridged/fake: its process, and the control port to arrange and look at it. */
export class BridgedFake {
  readonly sidecar: Program;
  readonly #url: string;

  private constructor(sidecar: Program, url: string) {
    this.sidecar = sidecar;
    this.#url = url;
  }

  /** Ends with the harness. The cloud is as the last one in this harness has left it. */
  static async start(harness: BridgedHarness, { legacy }: { readonly legacy: boolean }): Promise<BridgedFake> {
    const cloudConfig = join(harness.directory, "fake.json");
    await writeFile(cloudConfig, JSON.stringify({ stateFile: join(harness.directory, "fake-state.json"), legacy }));
    const sidecar = await harness.startSidecar({ name: "fake", args: [`--cloud-config=${cloudConfig}`], env: {} });
    const [, url = ""] = await sidecar.said(/^control (http:\S+)$/m);
    return new BridgedFake(sidecar, url);
  }

  async run(name: string, machine: object): Promise<void> {
    await this.#ask("PUT", `machines/${name}`, machine);
  }

  async terminate(name: string): Promise<void> {
    await this.#ask("DELETE", `machines/${name}`);
  }

  /** From now on every look-up of a machine fails, or none. */
  async failLookUps(failing: boolean): Promise<void> {
    for (const method of MACHINE_METHODS)
      await this.#ask(failing ? "PUT" : "DELETE", `failures/${method}`, failing ? "broken" : undefined);
  }

  /** How many look-ups of machines there were. */
  async lookUps(): Promise<number> {
    const calls = await this.#ask("GET", "calls");
    return MACHINE_METHODS.reduce((sum, method) => sum + Number(at(calls, method) ?? 0), 0);
  }

  /** The names of the methods that were called. */
  async called(): Promise<readonly string[]> {
    return Object.keys(Object(await this.#ask("GET", "calls")));
  }

  /** Each as the destination and the node, in order. */
  async routes(): Promise<readonly (readonly [destination: string, node: string])[]> {
    const routes = Object.values(Object(at(await this.state(), "routes")));
    return routes
      .map((route) => [String(at(route, "cidr")), String(at(route, "node"))] as const)
      .toSorted(([left], [right]) => left.localeCompare(right));
  }

  async loadBalancers(): Promise<readonly unknown[]> {
    return Object.values(Object(at(await this.state(), "loadBalancers")));
  }

  /** The nodes of each load balancer, in order. */
  async targets(): Promise<readonly (readonly string[])[]> {
    const names = (balancer: unknown) => [at(balancer, "nodes")].flat().map(String);
    return (await this.loadBalancers()).map((balancer) =>
      names(balancer).toSorted((left, right) => left.localeCompare(right)),
    );
  }

  /** All that is there, to be compared with itself. */
  async state(): Promise<unknown> {
    return this.#ask("GET", "state");
  }

  /** The Service that EnsureLoadBalancer was given last. */
  async givenService(): Promise<unknown> {
    return at(await this.#ask("GET", "given"), "service");
  }

  /** The Node of that name which EnsureLoadBalancer was given last. */
  async givenNode(name: string): Promise<unknown> {
    const nodes = listOf(at(await this.#ask("GET", "given"), "nodes"));
    return nodes.find((node) => at(node, "metadata", "name") === name);
  }

  async #ask(method: string, what: string, command?: unknown): Promise<unknown> {
    const body = command === undefined ? {} : { body: JSON.stringify(command) };
    const response = await fetch(`${this.#url}/${what}`, { method, signal: AbortSignal.timeout(CALL_MS), ...body });
    const answer = await response.text();
    if (!response.ok) throw new Error(`the fake cloud, asked to ${method} ${what}: ${response.status} ${answer}`);
    return answer === "" ? undefined : JSON.parse(answer);
  }
}
