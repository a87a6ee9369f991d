import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { at } from "../../support/kube.ts";
import { Program } from "../../support/program.ts";
import { CloudCaller, type ServiceName } from "./caller.ts";
import { Tenant } from "./tenant.ts";

/** The first start fills databases, which takes minutes on a busy machine. */
const START_MS = 600_000;
const END_MS = 60_000;
const FOLDER = fileURLToPath(new URL("../../../openstack", import.meta.url));

/** Where a cloud that has been started is: plain values, which another process can be told. */
export interface CloudAddress {
  readonly authUrl: string;
  readonly region: string;
  /** Availability zone of machines and volumes. */
  readonly zone: string;
  readonly urls: Readonly<Record<ServiceName, string>>;
  readonly adminPassword: string;
  /** Has the logs of all services. */
  readonly folder: string;
}

/** OpenStack's own services on this machine's loopback interface, started by test/openstack. */
export class RealOpenStack implements AsyncDisposable {
  readonly address: CloudAddress;
  readonly #program: Program;

  private constructor(address: CloudAddress, program: Program) {
    this.address = address;
    this.#program = program;
  }

  static async start(): Promise<RealOpenStack> {
    const folder = await mkdtemp(join(tmpdir(), "openstack-"));
    const program = new Program({
      command: join(FOLDER, ".venv/bin/python"),
      args: ["-m", "real_openstack", folder],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
    });
    try {
      const [, json = ""] = await program.said(/^ready (.*)$/m, START_MS);
      const about: unknown = JSON.parse(json);
      return new RealOpenStack(toAddress(about, folder), program);
    } catch (error) {
      await end(program, folder);
      throw error;
    }
  }

  /** Ends all services, and removes what they have stored. */
  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#program, this.address.folder);
  }
}

/** A project of its own in the cloud, with a network, as a cluster has one. */
export async function createTenant(address: CloudAddress): Promise<Tenant> {
  const login = { user: "admin", password: address.adminPassword, project: "admin" };
  return Tenant.create(address, await CloudCaller.login(address.urls, login));
}

async function end(program: Program, folder: string): Promise<void> {
  program.endInput();
  await program.exit(END_MS);
  await rm(folder, { recursive: true, force: true });
}

/** Of what the cloud says when it is ready. */
export function toAddress(about: unknown, folder: string): CloudAddress {
  const of = (...keys: readonly string[]) => String(at(about, ...keys));
  const url = (service: ServiceName) => of("urls", service);
  return {
    authUrl: of("authUrl"),
    region: of("region"),
    zone: of("zone"),
    adminPassword: of("adminPassword"),
    folder,
    urls: {
      keystone: url("keystone"),
      glance: url("glance"),
      nova: url("nova"),
      neutron: url("neutron"),
      octavia: url("octavia"),
      cinder: url("cinder"),
    },
  };
}
