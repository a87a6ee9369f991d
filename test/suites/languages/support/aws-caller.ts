import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectToProvider, ensureRequest, type ProviderClient } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { Program, type ProgramOptions } from "../../../support/program.ts";
import type { EmulatedMachine } from "./emulated-cloud.ts";
import { type OwnAws, socketOf, startOwnAws } from "./own-aws.ts";

const PATIENCE_MS = 60_000;
const PREFIX = "service.beta.kubernetes.io/aws-load-balancer-";

type Desired = NonNullable<Parameters<typeof ensureRequest>[0]>;
type Nodes = NonNullable<NonNullable<Parameters<ProviderClient["batchGetInstances"]>[0]>["nodes"]>;
type Ensured = Awaited<ReturnType<ProviderClient["ensureLoadBalancer"]>>;

/** The provider for AWS over the emulator, called as the controller calls it; no cluster. */
export class AwsCaller implements AsyncDisposable {
  readonly aws: OwnAws;
  readonly provider: ProviderClient;
  readonly #started: AsyncDisposableStack;

  private constructor(aws: OwnAws, provider: ProviderClient, started: AsyncDisposableStack) {
    this.aws = aws;
    this.provider = provider;
    this.#started = started;
  }

  static async start(): Promise<AwsCaller> {
    await using started = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "aws-calls-"));
    started.defer(() => rm(directory, { recursive: true, force: true }));
    const harness = { directory, run: (options: ProgramOptions) => started.use(new Program(options)) };
    const aws = await startOwnAws(harness);
    await aws.startSidecar();
    const provider = connectToProvider(socketOf(harness));
    started.defer(() => provider.close());
    return new AwsCaller(aws, provider, started.move());
  }

  /** What each Node came to: an instance, an absence, or the reason why it is not known. */
  async lookUp(nodes: Nodes): Promise<readonly unknown[]> {
    const { results } = await this.provider.batchGetInstances({ nodes, maxDataAge: { seconds: 0n, nanos: 0 } });
    return results.map(({ outcome }) => (outcome?.$case === "unknown" ? outcome.value.reason : outcome?.$case));
  }

  /** Makes the load balancer of the Service of that name; annotations by what follows their common prefix. */
  async ensure(
    name: string,
    { spec, ...desired }: Desired = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<Ensured> {
    const named = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [PREFIX + key, value]));
    const service = { service: `default/${name}`, uid: refOf(name).service.uid };
    return this.provider.ensureLoadBalancer(
      ensureRequest({ ...service, ...desired, spec: { annotations: named, ...spec } }),
    );
  }

  /** Waits until it is gone. */
  async remove(name: string): Promise<void> {
    await eventually(`Service ${name} to be gone`, PATIENCE_MS, async () =>
      (await this.provider.deleteLoadBalancer(refOf(name))).done ? true : undefined,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started.disposeAsync();
  }
}

/** The Service of that name. */
export function refOf(name: string) {
  return { service: { namespace: "default", name, uid: `uid-of-${name}` } };
}

export function idOf({ zone, id }: EmulatedMachine): string {
  return `aws:///${zone}/${id}`;
}

/** Why a call failed. */
export function reasonOf(error: unknown): unknown {
  return at(error, "reason");
}
