import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("../../../../providers/simulated/src", import.meta.url));
const READY_MS = 30_000;

/** Of the cloud's account. */
const API_KEY = "demo-key";
const ZONE = "north-a";

/** The simulated cloud and its sidecar as processes of their own: for tests of what only a real cloud shows. */
export class SimulatedCloud implements AsyncDisposable {
  readonly #url: string;
  readonly #programs: readonly Program[];

  private constructor(url: string, programs: readonly Program[]) {
    this.#url = url;
    this.#programs = programs;
  }

  /** The sidecar serves at `socketPath` once this resolves; `flags` are its. */
  static async start(socketPath: string, flags: readonly string[]): Promise<SimulatedCloud> {
    // Addresses of its own, so that clouds of tests that run at the same time do not meet.
    const pool = `127.${64 + (Math.floor(process.pid / 256) % 128)}.${process.pid % 256}`;
    const pools = [`--instance-pool=${pool}.0/25`, `--load-balancer-pool=${pool}.128/25`];
    const cloud = start("cloud/main.ts", ["--listen=127.0.0.1:0", "--state=:memory:", "--log-level=warn", ...pools]);
    const url = await cloud.said(/^simcloud ready (\S+)$/m);
    const sidecarFlags = [`--endpoint=unix://${socketPath}`, `--cloud-url=${url}`, `--api-key=${API_KEY}`, ...flags];
    const sidecar = start("sidecar/main.ts", sidecarFlags);
    await sidecar.said(/^provider ready (\S+)$/m);
    return new SimulatedCloud(url, [sidecar, cloud]);
  }

  /** From now on; what was called before is not counted. */
  async limitRate(perSecond: number, burst: number): Promise<void> {
    await this.#admin("PATCH", "settings", { rateLimit: { perSecond, burst } });
    await this.#admin("DELETE", "calls");
  }

  /** Calls by the status of their answer. */
  async callsByStatus(): Promise<Readonly<Record<string, number>>> {
    const body: unknown = await (await this.#admin("GET", "calls")).json();
    const operations: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "operations") : undefined;
    const sums: Record<string, number> = {};
    for (const operation of Array.isArray(operations) ? operations : []) {
      for (const [status, count] of Object.entries(Object(Reflect.get(Object(operation), "byStatus"))))
        sums[status] = (sums[status] ?? 0) + Number(count);
    }
    return sums;
  }

  /** Machines of these names, which run when this resolves. */
  async createInstances(names: readonly string[]): Promise<void> {
    const items = names.map((name) => ({ name, zone: ZONE }));
    await this.#call("POST", "v1/instances", { items });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program.end();
  }

  #admin(method: string, path: string, body?: object): Promise<Response> {
    return this.#call(method, `admin/v1/${path}`, body);
  }

  async #call(method: string, path: string, body?: object): Promise<Response> {
    const response = await fetch(`${this.#url}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(READY_MS),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

interface Program {
  /** What is captured, once it is written. */
  said(line: RegExp): Promise<string>;
  end(): Promise<void>;
}

function start(source: string, args: readonly string[]): Program {
  const child = spawn(process.execPath, ["--conditions=development", `${SOURCES}/${source}`, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    said: async (line) => {
      const deadline = AbortSignal.timeout(READY_MS);
      for (;;) {
        const found = line.exec(output)?.[1];
        if (found !== undefined) return found;
        if (deadline.aborted || child.exitCode !== null) throw new Error(`${source} did not say ${line}:\n${output}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    end: async () => {
      stop(child);
      await ended;
    },
  };
}

function stop(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
}
