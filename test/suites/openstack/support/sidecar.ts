import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToProvider, type ProviderClient } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import { Program } from "../../../support/program.ts";
import type { Tenant } from "./tenant.ts";

const READY_MS = 60_000;

/** The provider as a process of its own, and the contract's client of it. */
export class Sidecar implements AsyncDisposable {
  readonly client: ProviderClient;
  readonly endpoint: string;
  readonly #started: AsyncDisposableStack;

  private constructor(client: ProviderClient, endpoint: string, started: AsyncDisposableStack) {
    this.client = client;
    this.endpoint = endpoint;
    this.#started = started;
  }

  /** @param env more of the provider's environment than the project's */
  static async start(tenant: Pick<Tenant, "env">, env: Readonly<Record<string, string>> = {}): Promise<Sidecar> {
    await using started = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "sidecar-"));
    started.defer(() => rm(directory, { recursive: true, force: true }));
    const endpoint = `unix://${join(directory, "provider.sock")}`;
    const args = [`--endpoint=${endpoint}`];
    const source = "providers/openstack/src/main.ts";
    const program = started.use(new Program({ source, args, env: { ...tenant.env, ...env } }));
    await program.said(/^provider ready/m, READY_MS);
    const client = connectToProvider(endpoint);
    started.defer(async () => client.close());
    await eventually(
      "the provider's first check of the cloud",
      READY_MS,
      async () => ((await client.getProviderStatus()).scopeId === "" ? undefined : true),
      () => program.output,
    );
    return new Sidecar(client, endpoint, started.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#started.disposeAsync();
  }
}
