import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../../../support/eventually.ts";
import { Program } from "../../../support/program.ts";

const exec = promisify(execFile);
/** A domain that each hypervisor of the test driver begins with. */
const BUILT_IN = "test";

/** libvirt's own daemon with libvirt's own test driver: domains that start, pause, stop and go as those of KVM do, and run nothing. */
export class Hypervisor implements AsyncDisposable {
  readonly uri: string;
  readonly #directory: string;
  #running: readonly Program[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.uri = `test+unix:///default?socket=${join(directory, "libvirt-sock")}`;
  }

  static async create(): Promise<Hypervisor> {
    const hypervisor = new Hypervisor(await mkdtemp(join(tmpdir(), "hypervisor-")));
    await hypervisor.start();
    return hypervisor;
  }

  /** Begins without domains. */
  async start(): Promise<void> {
    const config = join(this.#directory, "libvirtd.conf");
    const text = [`unix_sock_dir = "${this.#directory}"`, 'auth_unix_rw = "none"', 'auth_unix_ro = "none"', ""];
    await writeFile(config, text.join("\n"));
    // The test driver is built in; others would look for what this machine has.
    const drivers = join(this.#directory, "drivers");
    await mkdir(drivers, { recursive: true });
    const args = ["--config", config, "--pid-file", join(this.#directory, "pid")];
    const daemon = new Program({ command: "libvirtd", args, env: { LIBVIRT_DRIVER_DIR: drivers } });
    this.#running = [daemon];
    await eventually(
      "libvirtd to answer",
      60_000,
      async () => exec("virsh", ["--connect", this.uri, "version"]).catch(() => undefined),
      () => daemon.output,
    );
    // Domains of the test driver are there as long as someone is connected.
    const listener = new Program({ command: "virsh", args: ["--connect", this.uri, "event", "--all", "--loop"] });
    this.#running = [listener, daemon];
    await eventually("someone to be connected for good", 60_000, async () => {
      await this.virsh("destroy", BUILT_IN).catch(() => undefined);
      await this.virsh("undefine", BUILT_IN).catch(() => undefined);
      return (await this.virsh("list", "--all", "--name")).trim() === "" ? true : undefined;
    });
  }

  /** Its end, as when the machine loses power. */
  async kill(): Promise<void> {
    for (const program of this.#running) await program.stop("SIGKILL");
    this.#running = [];
  }

  async virsh(...args: readonly string[]): Promise<string> {
    const { stdout } = await exec("virsh", ["--quiet", "--connect", this.uri, ...args]);
    return stdout;
  }

  /** Makes a domain and starts it; answers its UUID. */
  async create(name: string): Promise<string> {
    const file = join(this.#directory, `${name}.xml`);
    const network = "<interface type='network'><source network='default'/></interface>";
    const system = "<memory unit='MiB'>64</memory><os><type>hvm</type></os>";
    await writeFile(file, `<domain type='test'><name>${name}</name>${system}<devices>${network}</devices></domain>`);
    await this.virsh("define", file);
    await this.virsh("start", name);
    return (await this.virsh("domuuid", name)).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#running) await program[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
