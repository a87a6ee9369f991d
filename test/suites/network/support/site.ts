import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { connectToProvider, type ProviderClient } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import type { Program } from "../../../support/program.ts";
import { type NodeMachine, Topology } from "./topology.ts";

const main = new URL("../../../../providers/baremetal/src/main.ts", import.meta.url);

export interface SiteOptions {
  /** More of the configuration, as YAML, at the top level. */
  readonly more?: string;
  /** Pools, as YAML list items. */
  readonly pools?: string;
}

/** The inventory's entry of a machine. */
export interface InventoryMachine extends Pick<NodeMachine, "name" | "ipv4" | "ipv6"> {
  readonly isStopped?: boolean;
}

/** A site with the bare-metal provider on its gateway. */
export class Site implements AsyncDisposable {
  readonly topology: Topology;
  readonly directory: string;
  readonly socket: string;
  readonly #clients: ProviderClient[] = [];

  private constructor(topology: Topology, directory: string) {
    this.topology = topology;
    this.directory = directory;
    this.socket = join(directory, "provider.sock");
  }

  static async create(options: SiteOptions = {}): Promise<Site> {
    const site = new Site(await Topology.create(), await mkdtemp(join(tmpdir(), "site-")));
    await mkdir(site.inventoryPath);
    await site.writeConfig(options);
    await site.writeInventory(site.topology.nodes);
    return site;
  }

  get configPath(): string {
    return join(this.directory, "config.yaml");
  }

  /** Directory of the inventory. */
  get inventoryPath(): string {
    return join(this.directory, "machines");
  }

  get stateDir(): string {
    return join(this.directory, "state");
  }

  async writeConfig({
    more = "",
    pools = '- { name: default, ranges: [192.0.2.10-192.0.2.20, "2001:db8::10-2001:db8::20"] }',
  }: SiteOptions): Promise<void> {
    const text = [
      "site: test",
      `stateDir: ${this.stateDir}`,
      `inventory: { path: ${this.inventoryPath} }`,
      `pools:\n  ${pools.split("\n").join("\n  ")}`,
      "haproxy: { checkIntervalMs: 500, connectTimeoutMs: 500 }",
      "nftables: { checkIntervalMs: 500 }",
      "reconcileIntervalMs: 1000",
      more,
      "",
    ].join("\n");
    await writeFile(this.configPath, text);
  }

  async writeInventory(machines: readonly InventoryMachine[]): Promise<void> {
    const rows = machines.map(({ name, ipv4, ipv6, isStopped = false }) => ({
      id: `id-${name}`,
      name,
      type: "metal-1",
      zone: "rack-1",
      region: "home",
      state: isStopped ? "stopped" : "running",
      internalIPs: [ipv4, ipv6],
    }));
    // A file is replaced whole: the provider may be reading it.
    const file = join(this.inventoryPath, "site.yaml");
    await writeFile(`${file}.half`, JSON.stringify({ machines: rows }));
    await rename(`${file}.half`, file);
  }

  async startProvider(): Promise<Program> {
    const provider = this.topology.start(this.topology.gateway, main, [`--config=${this.configPath}`], {
      CLOUD_PROVIDER_ENDPOINT: `unix://${this.socket}`,
    });
    await provider.said(/provider ready/, 60_000);
    return provider;
  }

  /** Starts the provider on the gateway, for those who set its environment themselves. */
  get providerCommand(): readonly [string, ...string[]] {
    const inNamespace = ["netns", "exec", this.topology.gateway];
    return [
      "ip",
      ...inNamespace,
      process.execPath,
      "--conditions=development",
      fileURLToPath(main),
      `--config=${this.configPath}`,
    ];
  }

  /** Calls the provider, in the name of this cluster. It ends with the site. */
  client(cluster?: { readonly id: string }): ProviderClient {
    const client = connectToProvider(`unix://${this.socket}`, cluster === undefined ? {} : { cluster });
    this.#clients.push(client);
    return client;
  }

  /** Services that have a load balancer. */
  async *services(client: ProviderClient): AsyncGenerator<{ namespace: string; name: string; uid: string }> {
    const { loadBalancers } = await client.listLoadBalancers();
    for (const { service } of loadBalancers) if (service !== undefined) yield service;
  }

  /** Runs a program on the gateway. */
  async onGateway(program: string, ...args: readonly string[]): Promise<string> {
    return this.topology.run(this.topology.gateway, program, ...args);
  }

  async haproxyConfig(): Promise<string> {
    return readFile(join(this.stateDir, "haproxy.cfg"), "utf8");
  }

  async haproxyLog(): Promise<string> {
    return readFile(join(this.stateDir, "haproxy.log"), "utf8");
  }

  /** Process of HAProxy's master; undefined: it was never started. */
  async haproxyPid(): Promise<number | undefined> {
    const text = await readFile(join(this.stateDir, "haproxy.pid"), "utf8").catch(() => "");
    return text === "" ? undefined : Number(text.split("\n")[0]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.topology[Symbol.asyncDispose]();
    const pid = await this.haproxyPid();
    if (pid !== undefined) {
      kill(pid, "SIGTERM");
      await eventually(`HAProxy ${pid} to end`, 20_000, () => (kill(pid, 0) ? undefined : true));
    }
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Nodes of the site by their numbers, with the provider IDs that they have. */
export function nodeIds(...numbers: readonly number[]): Readonly<Record<string, string>> {
  return Object.fromEntries(numbers.map((number) => [`node-${number}`, `baremetal://id-node-${number}`]));
}

/** Names of the nodes that answered. */
export function namesOf(answers: readonly string[]): ReadonlySet<string> {
  return new Set(answers.map((answer) => answer.split(" ")[0] ?? ""));
}

/** False: there is no such process any more, but for what its parent has not read. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal) && !isZombie(pid);
  } catch {
    return false;
  }
}

/** Whether only its number is left, because no one asked how it ended. */
function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
