import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadBalancer, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { connectToProvider, type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../support/eventually.ts";
import { Program } from "../../support/program.ts";
import { type Wished, wishOf } from "../replay/scenarios/wish.ts";
import type { Server, Tenant } from "./tenant.ts";

const READY_MS = 60_000;
/** Octavia makes a load balancer in many steps. */
const SETTLED_MS = 240_000;

/** The provider as a process of its own, and the contract's client of it. */
export class Sidecar implements AsyncDisposable {
  readonly client: ProviderClient;
  readonly endpoint: string;
  readonly #program: Program;
  readonly #folder: string;

  private constructor(client: ProviderClient, endpoint: string, program: Program, folder: string) {
    this.client = client;
    this.endpoint = endpoint;
    this.#program = program;
    this.#folder = folder;
  }

  /** @param env more of the provider's environment than the project's */
  static async start(tenant: Pick<Tenant, "env">, env: Readonly<Record<string, string>> = {}): Promise<Sidecar> {
    const folder = await mkdtemp(join(tmpdir(), "sidecar-"));
    const endpoint = `unix://${join(folder, "provider.sock")}`;
    const program = new Program({
      source: "providers/openstack/src/main.ts",
      args: [`--endpoint=${endpoint}`],
      env: { ...tenant.env, ...env },
    });
    await program.said(/^provider ready/m, READY_MS);
    const client = connectToProvider(endpoint);
    await eventually(
      "the provider's first check of the cloud",
      READY_MS,
      async () => ((await client.getProviderStatus()).scopeId === "" ? undefined : true),
      () => program.output,
    );
    return new Sidecar(client, endpoint, program, folder);
  }

  /** Asks as the controller does: again while it is under way. Answers the address that the Service is told. */
  async ensure(wished: Wished): Promise<string | undefined> {
    const settled = await this.#settled(
      async () => (await this.client.ensureLoadBalancer(wishOf(wished))).loadBalancer,
    );
    return settled.ingress?.items[0]?.ip;
  }

  async updateNodes(service: string, servers: readonly Server[]): Promise<void> {
    const { nodes } = wishOf({ ports: [], nodes: servers.map((server) => ({ ...server })), version: "" });
    const request = { service: serviceRef(service), nodes };
    await this.#settled(async () => (await this.client.updateLoadBalancerNodes(request)).loadBalancer);
  }

  async delete(service: string): Promise<void> {
    await eventually(`the load balancer of ${service} to be gone`, SETTLED_MS, async () =>
      (await this.client.deleteLoadBalancer({ service: serviceRef(service) })).done ? true : undefined,
    );
  }

  async #settled(ask: () => Promise<LoadBalancer | undefined>): Promise<LoadBalancer> {
    return eventually("the load balancer to be as wished", SETTLED_MS, async () => {
      const loadBalancer = await ask();
      return loadBalancer?.phase === LoadBalancerPhase.ACTIVE ? loadBalancer : undefined;
    });
  }

  get output(): string {
    return this.#program.output;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.#program[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
