import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { Program } from "../../../support/program.ts";
import { outputOf } from "./images.ts";

/** Of the image that holds a pod's namespaces: no one's registry has one here. */
const PAUSE = "localhost/pause:test";
const PAUSE_PROGRAM = `process.on("SIGTERM", () => process.exit(0)); setInterval(() => {}, 2 ** 30)`;

const ENGINE = `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
infra_image = "${PAUSE}"

[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
`;

/** podman with images, containers and settings of its own: nothing of this machine's changes. */
export class Podman implements AsyncDisposable {
  /** By which podman finds them. */
  readonly env: Readonly<Record<string, string>>;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.env = {
      CONTAINERS_CONF: join(directory, "containers.conf"),
      CONTAINERS_STORAGE_CONF: join(directory, "storage.conf"),
    };
  }

  static async create(): Promise<Podman> {
    const directory = await mkdtemp(join(tmpdir(), "podman-"));
    const podman = new Podman(directory);
    await writeFile(join(directory, "containers.conf"), ENGINE);
    const storage = { driver: "overlay", graphroot: join(directory, "storage"), runroot: join(directory, "run") };
    const lines = Object.entries(storage).map(([name, value]) => `${name} = "${value}"\n`);
    await writeFile(join(directory, "storage.conf"), `[storage]\n${lines.join("")}`);
    return podman;
  }

  /** Takes an image out of a layout, as `localhost/<reference>`. */
  async load(layout: string, reference: string): Promise<string> {
    const name = `localhost/${reference}`;
    const [from, to] = [`oci:${layout}:${reference}`, `containers-storage:${name}`];
    await outputOf("skopeo", ["--insecure-policy", "copy", "--quiet", from, to], this.env);
    return name;
  }

  /** What holds a pod's namespaces, made of an image that has Node. */
  async makePause(base: string): Promise<void> {
    const file = join(this.#directory, "Pausefile");
    await writeFile(file, `FROM ${base}\nENTRYPOINT ${JSON.stringify(["node", "-e", PAUSE_PROGRAM])}\n`);
    await this.run("build", "--quiet", `--file=${file}`, `--tag=${PAUSE}`, this.#directory);
  }

  /** What podman prints. */
  async run(...args: readonly string[]): Promise<string> {
    return outputOf("podman", args, this.env);
  }

  /** What the container has written to both of its streams so far. */
  async logs(container: string): Promise<string> {
    const { stdout, stderr } = await promisify(execFile)("podman", ["logs", container], {
      env: { ...process.env, ...this.env },
    });
    return `${stdout}${stderr}`;
  }

  /** A container in the foreground. */
  start(...args: readonly string[]): Program {
    return new Program({ command: "podman", args: ["run", "--rm", ...args], env: this.env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("pod", "rm", "--all", "--force", "--time=0");
    await this.run("rm", "--all", "--force", "--time=0");
    await this.run("rmi", "--all", "--force");
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** What the kernel says of the process of a container. */
export async function statusOf(pid: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Object.fromEntries(
    text.split("\n").map((line) => {
      const [name = "", ...values] = line.split(":\t");
      return [name, values.join(":\t").trim()];
    }),
  );
}
