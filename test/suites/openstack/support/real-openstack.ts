import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Program } from "../../../support/program.ts";
import { type CloudAddress, toAddress } from "./address.ts";
import { CloudCaller } from "./caller.ts";
import { Tenant } from "./tenant.ts";

/** The first start fills databases, which takes minutes on a busy machine. */
const START_MS = 600_000;
const END_MS = 60_000;
const DIRECTORY = fileURLToPath(new URL("../services", import.meta.url));

/** OpenStack's own services on this machine's loopback interface, started by test/suites/openstack/services. */
export class RealOpenStack implements AsyncDisposable {
  readonly address: CloudAddress;
  readonly #program: Program;

  private constructor(address: CloudAddress, program: Program) {
    this.address = address;
    this.#program = program;
  }

  static async start(): Promise<RealOpenStack> {
    const directory = await mkdtemp(join(tmpdir(), "openstack-"));
    const program = new Program({
      command: join(DIRECTORY, ".venv/bin/python"),
      args: ["-m", "real_openstack", directory],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
    });
    try {
      const [, json = ""] = await program.said(/^ready (.*)$/m, START_MS);
      const about: unknown = JSON.parse(json);
      return new RealOpenStack(toAddress(about, directory), program);
    } catch (error) {
      await end(program, directory);
      throw error;
    }
  }

  /** Ends all services, and removes what they have stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#program, this.address.directory);
  }
}

/** A project of its own in the cloud, with a network, as a cluster has one. */
export async function createTenant(address: CloudAddress): Promise<Tenant> {
  const login = { user: "admin", password: address.adminPassword, project: "admin" };
  return Tenant.create(address, await CloudCaller.login(address.urls, login));
}

async function end(program: Program, directory: string): Promise<void> {
  program.endInput();
  await program.exit(END_MS);
  await rm(directory, { recursive: true, force: true });
}
