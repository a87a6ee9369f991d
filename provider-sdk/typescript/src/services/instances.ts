import { randomUUID } from "node:crypto";
import type { NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type {
  BatchGetInstancesRequest,
  BatchGetInstancesResponse,
  InstanceResult,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { fromWireCluster } from "../convert/common.ts";
import { fromWireNodeRef, toWireInstance } from "../convert/instance.ts";
import type { ProviderIdParts } from "../convert/provider-ids.ts";
import type { InstanceBatchAnswer, InstanceHandlers, NodeRef } from "../definition/instances.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { RpcCall } from "../rpc/method.ts";
import { fromDuration } from "../util/duration.ts";
import type { Limit } from "../util/limit.ts";
import { absentOutcome, itemProblem, notMineOutcome, unknownOutcome } from "./answers.ts";
import { CallRecorder } from "./call-recorder.ts";
import type { ProviderRuntime } from "./runtime.ts";

/** Age of data that a read may have when the caller does not say. Contract: BatchGetInstancesRequest.max_data_age. */
export const defaultMaxDataAgeMs = 30_000;

/** A Node to ask the provider about; equal ones of a request share one. */
interface LookUp {
  readonly ref: NodeRef;
  readonly parts: ProviderIdParts | undefined;
}

type Planned =
  | { readonly kind: "answered"; readonly result: InstanceResult }
  | { readonly kind: "lookUp"; readonly key: string };

/** Serves BatchGetInstances from `get` or `getMany`. */
export const createBatchGetInstances =
  (runtime: ProviderRuntime, handlers: InstanceHandlers, limit: Limit) =>
  async (request: BatchGetInstancesRequest, call: RpcCall): Promise<BatchGetInstancesResponse> => {
    const callTime = new Date(runtime.nowMs());
    const recorder = new CallRecorder({
      call,
      cluster: fromWireCluster(request.context?.cluster),
      log: runtime.log,
      nowMs: runtime.nowMs,
      observe: runtime.observe,
    });
    const lookUps = new Map<string, LookUp>();
    const planned = request.nodes.map((node) => plan(node, runtime, lookUps));
    const maxDataAgeMs = fromDuration(request.maxDataAge, defaultMaxDataAgeMs);
    const found = await ask({ runtime, handlers, limit, recorder, maxDataAgeMs, callTime }, lookUps);
    return {
      results: planned.map((item) => (item.kind === "answered" ? item.result : resultOf(found, item.key))),
      scopeId: runtime.scopeId() ?? "",
      stats: recorder.stats,
    };
  };

const resultOf = (found: ReadonlyMap<string, InstanceResult>, key: string): InstanceResult =>
  found.get(key) ??
  result(unknownOutcome(new ProviderError("INVARIANT_BROKEN", "The provider did not answer for this node")));

const result = (outcome: InstanceResult["outcome"], readTime?: Date): InstanceResult => ({ outcome, readTime });

/** Decides what needs no question to the provider, and which Nodes are one question. */
const plan = (node: WireNodeRef, runtime: ProviderRuntime, lookUps: Map<string, LookUp>): Planned => {
  if (node.providerId === "") return planByName(node, runtime, lookUps);
  const parts = runtime.ids.parse(node.providerId);
  if (!parts) {
    const message = `provider ID ${node.providerId} has none of the prefixes ${runtime.ids.prefixes.join(", ")}`;
    return answered({ $case: "notMine", value: { message } });
  }
  if (parts.id === "") {
    const error = new ProviderError(
      "PROVIDER_ID_MALFORMED",
      `provider ID ${node.providerId} has nothing after its prefix`,
    );
    return answered(unknownOutcome(error));
  }
  return lookUp(`id ${node.providerId}`, node, parts, lookUps);
};

const planByName = (node: WireNodeRef, runtime: ProviderRuntime, lookUps: Map<string, LookUp>): Planned => {
  if (runtime.capabilities.instances?.lookupByName) return lookUp(`name ${nodeKey(node)}`, node, undefined, lookUps);
  const error = new ProviderError(
    "FEATURE_UNSUPPORTED",
    `Node ${node.name} has no provider ID and this provider does not look machines up by name`,
  );
  return answered(unknownOutcome(error));
};

/** Nodes without provider ID are equal when every hint is. */
const nodeKey = (node: WireNodeRef): string => JSON.stringify(node);

const answered = (outcome: InstanceResult["outcome"]): Planned => ({ kind: "answered", result: result(outcome) });

const lookUp = (
  key: string,
  node: WireNodeRef,
  parts: ProviderIdParts | undefined,
  lookUps: Map<string, LookUp>,
): Planned => {
  if (!lookUps.has(key)) lookUps.set(key, { ref: fromWireNodeRef(node, parts), parts });
  return { kind: "lookUp", key };
};

interface AskOptions {
  readonly runtime: ProviderRuntime;
  readonly handlers: InstanceHandlers;
  readonly limit: Limit;
  readonly recorder: CallRecorder;
  readonly maxDataAgeMs: number;
  readonly callTime: Date;
}

const ask = async (
  options: AskOptions,
  lookUps: ReadonlyMap<string, LookUp>,
): Promise<ReadonlyMap<string, InstanceResult>> => {
  if (lookUps.size === 0) return new Map();
  const { handlers } = options;
  return handlers.getMany ? askTogether(options, handlers.getMany, lookUps) : askEach(options, handlers.get, lookUps);
};

const askEach = async (
  options: AskOptions,
  get: NonNullable<InstanceHandlers["get"]>,
  lookUps: ReadonlyMap<string, LookUp>,
): Promise<ReadonlyMap<string, InstanceResult>> => {
  const entries = [...lookUps].map(async ([key, lookUp]) => {
    const recorder = options.recorder.fork();
    const answer = await settle(() =>
      options.limit.run(recorder.signal, async () => get(lookUp.ref, recorder.read(options.maxDataAgeMs))),
    );
    return [key, toResult(answer, lookUp, recorder, options)] as const;
  });
  return new Map(await Promise.all(entries));
};

const askTogether = async (
  options: AskOptions,
  getMany: NonNullable<InstanceHandlers["getMany"]>,
  lookUps: ReadonlyMap<string, LookUp>,
): Promise<ReadonlyMap<string, InstanceResult>> => {
  const { recorder } = options;
  const asked = [...lookUps];
  const answers = await getMany(
    asked.map(([, { ref }]) => ref),
    recorder.read(options.maxDataAgeMs),
  );
  if (answers.length !== asked.length) {
    const message = `getMany answered ${answers.length} items to ${asked.length} nodes`;
    throw new ProviderError("INVARIANT_BROKEN", message);
  }
  // Every error raises its doubt before any absence is passed on.
  const settled = answers.map((answer) => (answer instanceof Error ? noteProblem(answer, recorder, options) : answer));
  return new Map(
    asked.map(([key, lookUp], index) => {
      const answer =
        settled[index] ?? new ProviderError("INVARIANT_BROKEN", `getMany answered nothing for ${lookUp.ref.name}`);
      return [key, toResult(answer, lookUp, recorder, options)] as const;
    }),
  );
};

/** An error as a value, so that one Node's failure is not the others'. */
const settle = async (work: () => Promise<InstanceBatchAnswer>): Promise<InstanceBatchAnswer> => {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error("the handler threw something that is no Error", { cause: error });
  }
};

const toResult = (
  answer: InstanceBatchAnswer,
  lookUp: LookUp,
  recorder: CallRecorder,
  options: AskOptions,
): InstanceResult => {
  if (answer instanceof Error) return result(unknownOutcome(noteProblem(answer, recorder, options)), options.callTime);
  switch (answer.kind) {
    case "absent":
      return result(absentOutcome(answer, recorder.doubt, options.callTime), answer.observeTime ?? options.callTime);
    case "notMine":
      return result(notMineOutcome(answer), options.callTime);
    default: {
      const value = toWireInstance(answer, options.runtime.ids, lookUp.parts?.prefix);
      return result({ $case: "instance", value }, answer.readTime ?? options.callTime);
    }
  }
};

const noteProblem = (thrown: Error, recorder: CallRecorder, { runtime }: AskOptions): ProviderError => {
  const correlationId = randomUUID();
  const { error, masked } = itemProblem(thrown, correlationId);
  recorder.noteError(error);
  if (masked)
    runtime.log.error("A look-up failed in a way the provider did not expect", { correlationId, error: thrown });
  return error;
};
