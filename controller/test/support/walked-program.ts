import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DevCluster, type JsonObject, startDevCluster } from "@cloudwire/devcluster";
import { asRecord, recordField, stringField } from "../../src/util/json.ts";
import { eventually } from "./poll.ts";
import { SimulatedCloud } from "./provider/simulated-cloud.ts";

const SOURCES = new URL("../../src/", import.meta.url);
const PRELOADED = fileURLToPath(new URL("call-counts.ts", import.meta.url));

/** No renewal of the Lease falls into what is watched. */
const RARE_RENEWALS = [
  "--leader-elect-lease-duration=600s",
  "--leader-elect-renew-deadline=500s",
  "--leader-elect-retry-period=250s",
];

/** Nothing is under way when the API server has heard nothing for so long. */
const QUIET_MS = 700;

/** How often each function was called, by `file#name@offset`; files below controller/src. */
export type CallCounts = ReadonlyMap<string, number>;

/** The controller as a process that counts its calls, over devcluster, the simulated cloud and its provider. */
export class WalkedProgram implements AsyncDisposable {
  readonly cluster: DevCluster;
  readonly cloud: SimulatedCloud;
  readonly #directory: string;
  readonly #child: ChildProcess;
  #log = "";

  static async start(flags: readonly string[]): Promise<WalkedProgram> {
    const directory = await mkdtemp(join(tmpdir(), "walk-"));
    const socketPath = join(directory, "provider.sock");
    const cluster = await startDevCluster({ controllers: false });
    await cluster.writeKubeconfig(join(directory, "kubeconfig"));
    const cloud = await SimulatedCloud.start(socketPath, []);
    const args = [
      `--kubeconfig=${join(directory, "kubeconfig")}`,
      `--provider=simulated=unix://${socketPath}`,
      "--secure-port=0",
      ...RARE_RENEWALS,
      ...flags,
    ];
    const child = fork(fileURLToPath(new URL("main.ts", SOURCES)), args, {
      execArgv: ["--conditions=development", "--import", PRELOADED],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    return new WalkedProgram(directory, cluster, cloud, child);
  }

  private constructor(directory: string, cluster: DevCluster, cloud: SimulatedCloud, child: ChildProcess) {
    this.#directory = directory;
    this.cluster = cluster;
    this.cloud = cloud;
    this.#child = child;
    child.stderr?.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
  }

  /** What was called while `act` ran and until it was quiet. */
  async callsOf(act: () => Promise<void>): Promise<CallCounts> {
    await this.quiet();
    await this.#take();
    await act();
    await this.quiet();
    return this.#take();
  }

  async quiet(): Promise<void> {
    let seen = -1;
    let sinceMs = 0;
    await eventually("nothing is under way any more", () => {
      const now = this.cluster.requests.length;
      if (now !== seen) sinceMs = performance.now();
      seen = now;
      return performance.now() - sinceMs > QUIET_MS;
    });
  }

  /** Until an event with this reason is there about an object of this name. */
  async recorded(name: string, reason: string): Promise<void> {
    await this.#until(`an event ${reason} about ${name}`, () =>
      this.cluster
        .list("v1", "Event")
        .map((event) => asRecord(event, "event"))
        .some(
          (event) =>
            stringField(event, "reason") === reason &&
            stringField(recordField(event, "involvedObject"), "name") === name,
        ),
    );
  }

  async gone(nodeName: string): Promise<void> {
    await this.#until(`Node ${nodeName} is gone`, () => this.cluster.read("v1", "Node", "", nodeName) === undefined);
  }

  /** What a user or a kubelet does: creates an object of the core group, or merges into it. */
  async send(method: "POST" | "PATCH", path: string, body: JsonObject): Promise<void> {
    const type = method === "POST" ? "application/json" : "application/strategic-merge-patch+json";
    const response = await fetch(`${this.cluster.url}/api/v1/${path}`, {
      method,
      headers: { "content-type": type },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    if (this.#child.exitCode === null) {
      this.#child.kill("SIGTERM");
      await ended;
    }
    await this.cloud[Symbol.asyncDispose]();
    await this.cluster.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    try {
      await eventually(what, condition);
    } catch (error) {
      throw new Error(`the controller said:\n${this.#log.slice(-5_000)}`, { cause: error });
    }
  }

  /** Since it was last asked. */
  async #take(): Promise<CallCounts> {
    const answer = new Promise<unknown>((resolve) => this.#child.once("message", resolve));
    this.#child.send("take");
    const counted = await answer;
    if (!Array.isArray(counted)) throw new Error("the program did not report its calls");
    const counts = new Map<string, number>();
    for (const item of counted) {
      const [url, key, count]: readonly unknown[] = Array.isArray(item) ? item : [];
      if (typeof url !== "string" || !url.startsWith(SOURCES.href)) continue;
      counts.set(`${url.slice(SOURCES.href.length)}#${String(key)}`, Number(count));
    }
    return counts;
  }
}
