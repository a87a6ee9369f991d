import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "../../../support/eventually.ts";
import { Program } from "../../../support/program.ts";

const exec = promisify(execFile);

/** What came of one run of the traffic program. */
export interface TrafficResult {
  readonly answers: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Requests without pause from the client to one address. */
export interface Traffic {
  /** Waits until the node has answered more than before. */
  readonly answeredBy: (node: string) => Promise<void>;
  readonly end: () => Promise<TrafficResult>;
}

/** A machine of the topology: where it is, and what it is called. */
export interface NodeMachine {
  readonly name: string;
  readonly namespace: string;
  readonly ipv4: string;
  readonly ipv6: string;
  /** An address out of its pod CIDR. */
  readonly podIp: string;
  readonly podCidr: string;
}

const programs = new URL("programs/", import.meta.url);
/** Namespaces belong to the machine: each topology of a process has names of its own. */
let made = 0;

/**
 * Network namespaces as a small site has them: a gateway between a client's network (10.60.0.0/24) and that of three nodes (10.50.0.0/24). The gateway is
 * where the provider runs.
 */
export class Topology implements AsyncDisposable {
  readonly gateway: string;
  readonly client: string;
  readonly clientIpv4 = "10.60.0.2";
  readonly nodes: readonly NodeMachine[];
  readonly #running: Program[] = [];

  private constructor(prefix: string) {
    this.gateway = `${prefix}g`;
    this.client = `${prefix}c`;
    this.nodes = [1, 2, 3].map((number) => ({
      name: `node-${number}`,
      namespace: `${prefix}n${number}`,
      ipv4: `10.50.0.${10 + number}`,
      ipv6: `fd50::${10 + number}`,
      podIp: `10.244.${number}.5`,
      podCidr: `10.244.${number}.0/24`,
    }));
  }

  static async create(): Promise<Topology> {
    made += 1;
    const topology = new Topology(`cw${process.pid}x${made}`);
    try {
      await topology.#make();
      return topology;
    } catch (error) {
      await topology[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a program in a namespace and answers what it printed; fails unless it ends with 0. */
  async run(namespace: string, program: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await exec("ip", ["netns", "exec", namespace, program, ...args]);
    return stdout;
  }

  /** Starts a program of Node in a namespace. It ends with the topology, if not before. */
  start(namespace: string, source: URL, args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const command = [process.execPath, "--conditions=development", fileURLToPath(source)];
    return this.launch(namespace, [...command, ...args], env);
  }

  /** Starts any program in a namespace. It ends with the topology, if not before. */
  launch(namespace: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const program = new Program({ command: "ip", args: ["netns", "exec", namespace, ...command], env });
    this.#running.push(program);
    return program;
  }

  /** What answers on node ports. */
  async serve(node: NodeMachine, tcpPorts: readonly number[], udpPorts: readonly number[] = []): Promise<Program> {
    const args = [node.name, tcpPorts.join(","), udpPorts.join(",")];
    const server = this.start(node.namespace, new URL("node-server.ts", programs), args);
    await server.said(/serving/);
    return server;
  }

  /** Answers to the client, one a time asked. */
  async ask(kind: "tcp" | "udp", address: string, port: number, times = 1): Promise<readonly string[]> {
    return this.askFrom(this.client, kind, address, port, times);
  }

  async askFrom(
    namespace: string,
    kind: "tcp" | "udp",
    address: string,
    port: number,
    times = 1,
  ): Promise<readonly string[]> {
    const source = fileURLToPath(new URL("ask.ts", programs));
    const text = await this.run(namespace, process.execPath, source, kind, address, String(port), String(times));
    return text.trim().split("\n");
  }

  /** Asks until every one of these nodes has answered; fails when another does, or no one. */
  async askUntil(names: readonly string[], ...question: Parameters<Topology["askFrom"]>): Promise<void> {
    const [namespace, kind, address, port] = question;
    const seen = new Set<string>();
    await eventually(
      `answers of ${names.join(", ")}`,
      30_000,
      async () => {
        for (const answer of await this.askFrom(namespace, kind, address, port, 2 * names.length)) {
          seen.add(answer.split(" ")[0] ?? "");
        }
        return names.every((name) => seen.has(name)) ? true : undefined;
      },
      () => [...seen].join(", "),
    );
    const others = [...seen].filter((name) => !names.includes(name));
    if (others.length > 0) throw new Error(`answers came of ${others.join(", ")} too`);
  }

  traffic(address: string, port: number): Traffic {
    const program = this.start(this.client, new URL("traffic.ts", programs), [address, String(port)]);
    return {
      answeredBy: (node) => answeredBy(program, node),
      end: async () => {
        program.endInput();
        const [, json = ""] = await program.said(/^result (.*)$/m, 30_000);
        return readResult(json);
      },
    };
  }

  /** Datagrams from one socket of the client, all the time. */
  chatter(address: string, port: number): Pick<Traffic, "answeredBy"> {
    const program = this.start(this.client, new URL("chatter.ts", programs), [address, String(port)]);
    return { answeredBy: (node) => answeredBy(program, node) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.splice(0).map((program) => program[Symbol.asyncDispose]()));
    for (const name of this.#namespaces) await exec("ip", ["netns", "del", name]).catch(() => undefined);
  }

  get #namespaces(): readonly string[] {
    return [this.gateway, this.client, ...this.nodes.map(({ namespace }) => namespace)];
  }

  async #make(): Promise<void> {
    for (const name of this.#namespaces) {
      await exec("ip", ["netns", "add", name]);
      await this.run(name, "ip", "link", "set", "lo", "up");
    }
    for (const setting of ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]) {
      await this.run(this.gateway, "sysctl", "-qw", setting);
    }
    await this.#ip(this.gateway, "link add nodes type bridge");
    // Where bridged packets pass nftables too, one that is sent back to its own port is lost.
    await this.run(this.gateway, "sysctl", "-qew", "net.bridge.bridge-nf-call-iptables=0");
    await this.run(this.gateway, "sysctl", "-qew", "net.bridge.bridge-nf-call-ip6tables=0");
    await this.#ip(this.gateway, "link set nodes up");
    await this.#ip(this.gateway, "address add 10.50.0.1/24 dev nodes");
    await this.#ip(this.gateway, "address add fd50::1/64 dev nodes nodad");
    for (const [index, node] of this.nodes.entries()) await this.#join(node, `node${index}`);
    await this.#ip(this.client, `link add uplink type veth peer name clients netns ${this.gateway}`);
    await this.#ip(this.gateway, "address add 10.60.0.1/24 dev clients");
    await this.#ip(this.gateway, "address add fd60::1/64 dev clients nodad");
    await this.#ip(this.gateway, "link set clients up");
    await this.#ip(this.client, `address add ${this.clientIpv4}/24 dev uplink`);
    await this.#ip(this.client, "address add fd60::2/64 dev uplink nodad");
    await this.#ip(this.client, "link set uplink up");
    await this.#ip(this.client, "route add default via 10.60.0.1");
    await this.#ip(this.client, "route add default via fd60::1");
  }

  async #join({ namespace, ipv4, ipv6, podIp }: NodeMachine, port: string): Promise<void> {
    await this.#ip(namespace, `link add uplink type veth peer name ${port} netns ${this.gateway}`);
    await this.#ip(this.gateway, `link set ${port} master nodes up`);
    await this.#ip(namespace, `address add ${ipv4}/24 dev uplink`);
    await this.#ip(namespace, `address add ${ipv6}/64 dev uplink nodad`);
    await this.#ip(namespace, "link set uplink up");
    await this.#ip(namespace, "route add default via 10.50.0.1");
    await this.#ip(namespace, "route add default via fd50::1");
    await this.#ip(namespace, `address add ${podIp}/32 dev lo`);
  }

  async #ip(namespace: string, line: string): Promise<void> {
    await this.run(namespace, "ip", ...line.split(" "));
  }
}

async function answeredBy(program: Program, node: string): Promise<void> {
  const count = (): number => program.output.split(`answered ${node} `).length;
  const before = count();
  await eventually(
    `${node} to answer more`,
    30_000,
    () => (count() > before ? true : undefined),
    () => program.output.slice(-1_000),
  );
}

function readResult(json: string): TrafficResult {
  const { answers, failures } = JSON.parse(json);
  return { answers, failures };
}
