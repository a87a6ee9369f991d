import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudProviderClient } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { AbsenceBasis, CallContext, ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { GetProviderInfoRequest, type GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { InstanceResult } from "@cloudwire/proto/cloudprovider/v1/instance";
import { ErrorInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { createLogger, startProvider } from "@cloudwire/provider-sdk";
import { type CallOptions, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { CloudOptions } from "../cloud/start-cloud.ts";
import { createSimulatedProvider } from "../sidecar/provider.ts";
import { poll } from "./poll.ts";
import { startTestCloud, type TestCloud } from "./test-cloud.ts";

type Unary<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => unknown;

/** A cloud, the sidecar for it on a real socket, and a client on that socket. */
export interface TestProvider {
  readonly cloud: TestCloud;
  readonly client: CloudProviderClient;
  readonly context: CallContext;
  /** Context of the same caller for another cluster. */
  readonly contextOf: (clusterId: string) => CallContext;
  readonly change: (more?: Partial<ChangeContext>) => ChangeContext;
  /** One unary call; rejects with the RPC's error. */
  readonly call: <Request, Response>(
    method: Unary<Request, Response>,
    request: Request,
    deadlineMs?: number,
  ) => Promise<Response>;
  readonly close: () => Promise<void>;
}

export interface TestProviderOptions {
  readonly cloud?: CloudOptions;
  readonly callTimeoutMs?: number;
  readonly apiKey?: () => string;
  readonly inTreePlugins?: readonly string[];
}

export async function startTestProvider(options: TestProviderOptions = {}): Promise<TestProvider> {
  const cloud = await startTestCloud(options.cloud);
  const directory = await mkdtemp(join(tmpdir(), "sim-"));
  const definition = createSimulatedProvider({
    url: cloud.url,
    apiKey: options.apiKey ?? (() => "demo-key"),
    callTimeoutMs: options.callTimeoutMs ?? 5000,
    inTreePlugins: options.inTreePlugins ?? [],
  });
  const log = createLogger({ level: "error", write: () => undefined, now: () => new Date() });
  const path = join(directory, "provider.sock");
  const provider = await startProvider(definition, { endpoint: { kind: "unix", path }, log, drainMs: 100 });
  const client = new CloudProviderClient(provider.address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": 16 * 2 ** 20,
  });
  const call: TestProvider["call"] = async (method, request, deadlineMs = 20_000) =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + deadlineMs;
      method.call(client, request, new Metadata(), { deadline }, (error, response) => {
        if (error) reject(error);
        else resolve(response);
      });
    });
  const hello = GetProviderInfoRequest.fromPartial({ client: { name: "test", version: "1", contractMajor: 1 } });
  // The SDK asks the cloud again after 10 s if the first question took too long on a busy machine.
  const info = await poll(
    "the scope",
    async () => knownScope(call(client.getProviderInfo.bind(client), hello)),
    30_000,
  );
  const contextOf = (id: string): CallContext =>
    CallContext.fromPartial({ cluster: { id, name: `name-${id}` }, scopeId: info.scopeId });
  return {
    cloud,
    client,
    context: contextOf("cluster-1"),
    contextOf,
    change: (more = {}) => ChangeContext.fromPartial({ requestId: randomUUID(), ...more }),
    call,
    close: async () => {
      client.close();
      await provider.close();
      await cloud.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** Undefined until the cloud has said which account the key belongs to. */
async function knownScope(handshake: Promise<GetProviderInfoResponse>): Promise<GetProviderInfoResponse | undefined> {
  try {
    const info = await handshake;
    return info.scopeId === "" ? undefined : info;
  } catch (error) {
    if (reasonOf(error) === "PROVIDER_STARTING") return undefined;
    throw error;
  }
}

/** The reason in an RPC's error; undefined: the transport said it. */
export function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("metadata" in error) || !(error.metadata instanceof Metadata)) return undefined;
  const [details] = error.metadata.get("grpc-status-details-bin");
  if (!(details instanceof Buffer)) return undefined;
  const info = Status.decode(details).details.find(({ typeUrl }) => typeUrl.endsWith("google.rpc.ErrorInfo"));
  return info && ErrorInfo.decode(info.value).reason;
}

/** The reason with which a call fails; "OK" if it does not. */
export async function failureOf(call: Promise<unknown>): Promise<string | undefined> {
  return call.then(() => "OK", reasonOf);
}

/** One item's outcome in a word or two, for tables: `instance RUNNING`, `absent TERMINATED`, `unknown RATE_LIMITED`. */
export function outcomeWord({ outcome }: Pick<InstanceResult, "outcome">): string {
  switch (outcome?.$case) {
    case "instance":
      return "instance";
    case "absent":
      return `absent ${basisNames.get(outcome.value.basis) ?? "?"}`;
    case "unknown":
      return `unknown ${outcome.value.reason}`;
    case "notOwned":
      return "notOwned";
    case undefined:
      return "nothing";
  }
  return outcome satisfies never;
}

const basisNames = new Map<number, string>(Object.entries(AbsenceBasis).map(([name, number]) => [number, name]));
