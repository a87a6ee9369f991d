import { inParallel } from "@cloudwire/test";
import { pick } from "../lib/random.ts";
import { nodeObject, readyCondition } from "../lib/node-object.ts";
import type { Site } from "./site.ts";

const CALL_MS = 60_000;
const ZONES = ["north-a", "north-b", "south-a"] as const;

interface Member {
  readonly name: string;
  /** Of the machine. */
  readonly id: string;
  /** Ready, silent for a while, or with its machine stopped. */
  state: "ready" | "silent" | "stopped";
  changed: string;
}

/** The desired instances and Nodes, and their kubelets. */
export class Fleet {
  readonly #site: Site;
  readonly #random: () => number;
  readonly #members = new Map<string, Member>();
  readonly #gone: string[] = [];
  #named = 0;
  #beat = 0;

  constructor(site: Site, random: () => number) {
    this.#site = site;
    this.#random = random;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Name of each desired Node, mapped to the ID of its instance. */
  get wanted(): ReadonlyMap<string, string> {
    return new Map([...this.#members.values()].map(({ name, id }) => [name, id]));
  }

  /** Names of Nodes that must be deleted. */
  get gone(): readonly string[] {
    return this.#gone;
  }

  async join(count: number): Promise<void> {
    const specs = Array.from({ length: count }, (_, index) => {
      const number = this.#named + index;
      return { name: `n-${String(number).padStart(5, "0")}`, zone: ZONES[number % ZONES.length] ?? ZONES[0] };
    });
    this.#named += count;
    const machines = await this.#site.cloud.createInstances(specs, AbortSignal.timeout(CALL_MS));
    await inParallel(machines, async ({ id, name }) => {
      await this.#site.kube.create("/api/v1/nodes", nodeObject(name));
      this.#members.set(name, { name, id, state: "ready", changed: new Date().toISOString() });
    });
  }

  /** The machine goes and its kubelet falls silent: it is the controller that has to delete the Node. */
  async terminate(): Promise<void> {
    const member = this.#remove();
    if (member === undefined) return;
    await this.#site.cloud.terminateInstances([member.id], AbortSignal.timeout(CALL_MS));
    await this.#report(member, "Unknown");
  }

  /** A user deletes the Node and then its instance. */
  async leave(): Promise<void> {
    const member = this.#remove();
    if (member === undefined) return;
    await this.#site.kube.delete(`/api/v1/nodes/${member.name}`);
    await this.#site.cloud.terminateInstances([member.id], AbortSignal.timeout(CALL_MS));
  }

  /** A kubelet falls silent; the answer lets it report again. */
  async silence(): Promise<() => Promise<void>> {
    const member = this.#pickReady();
    if (member === undefined) return async () => undefined;
    await this.#turn(member, "silent");
    return () => this.#turn(member, "ready");
  }

  /** A machine is stopped; the answer starts it again. */
  async stop(): Promise<() => Promise<void>> {
    const member = this.#pickReady();
    if (member === undefined) return async () => undefined;
    await this.#site.cloud.stopInstance(member.id, AbortSignal.timeout(CALL_MS));
    await this.#turn(member, "stopped");
    return async () => {
      await this.#site.cloud.startInstance(member.id, AbortSignal.timeout(CALL_MS));
      await this.#turn(member, "ready");
    };
  }

  /** The next kubelets report that nothing has changed. */
  async heartbeat(count: number): Promise<void> {
    const ready = [...this.#members.values()].filter(({ state }) => state === "ready");
    const from = this.#beat % Math.max(1, ready.length);
    this.#beat = from + count;
    await inParallel(ready.slice(from, from + count), (member) => this.#report(member, "True"));
  }

  async #turn(member: Member, state: Member["state"]): Promise<void> {
    member.state = state;
    member.changed = new Date().toISOString();
    await this.#report(member, state === "ready" ? "True" : "Unknown");
  }

  async #report({ name, changed }: Member, status: "True" | "Unknown"): Promise<void> {
    const conditions = [readyCondition(status, changed)];
    await this.#site.kube.patch(`/api/v1/nodes/${name}/status`, { status: { conditions } });
  }

  #pickReady(): Member | undefined {
    return pick(
      this.#random,
      [...this.#members.values()].filter(({ state }) => state === "ready"),
    );
  }

  #remove(): Member | undefined {
    const member = this.#pickReady();
    if (member === undefined) return undefined;
    this.#members.delete(member.name);
    this.#gone.push(member.name);
    member.changed = new Date().toISOString();
    return member;
  }
}
