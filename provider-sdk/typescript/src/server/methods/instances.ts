import { isSameInstance } from "../../util/provider-id.ts";
import type { NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type {
  BatchGetInstancesRequest,
  BatchGetInstancesResponse,
  Instance as WireInstance,
  InstanceResult as WireInstanceResult,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { fromWireNodeRef, toWireInstance } from "../convert/objects.ts";
import type { Absent } from "../../results/results.ts";
import type { Instance, InstanceHandlers, NodeRef } from "../../definition/instances.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { fromDuration } from "../../util/clock.ts";
import { toWireResult, unknownOutcome } from "./results.ts";
import { BatchLookUp, type LookUpResult } from "./lookup.ts";
import { RequestDedup } from "../../state/request-dedup.ts";
import { knownScope, type ProviderRuntime, recorderFor } from "../runtime.ts";

/** Age of data that a read may have when the caller does not say. Contract: BatchGetInstancesRequest.max_data_age. */
export const defaultMaxDataAgeMs = 30_000;

/** What the contract assumes when a provider declares no `existence_consistency_delay`. */
const defaultConsistencyDelayMs = 60_000;

type Planned =
  | { readonly kind: "answered"; readonly outcome: WireInstanceResult["outcome"] }
  | { readonly kind: "lookUp"; readonly key: string; readonly prefix: string | undefined };

/** What one call asks the provider. */
interface Questions {
  readonly refs: Map<string, NodeRef>;
  readonly named: RequestDedup<WireNodeRef>;
}

/** Serves BatchGetInstances from `get` or `getMany`. */
export class InstanceBatch {
  readonly #runtime: ProviderRuntime;
  /** Single look-ups are shared by calls: their keys have to say everything. */
  readonly #sharesLookUps: boolean;
  readonly #lookUp: BatchLookUp<NodeRef, Instance>;

  constructor(runtime: ProviderRuntime, handlers: InstanceHandlers) {
    this.#runtime = runtime;
    this.#sharesLookUps = handlers.getMany === undefined;
    this.#lookUp = new BatchLookUp<NodeRef, Instance>({
      handlers,
      refuseAbsence: (ref, absent) => this.#tooYoung(ref, absent),
      log: runtime.log,
      nowMs: runtime.nowMs,
    });
  }

  async get(request: BatchGetInstancesRequest, call: RpcCall): Promise<BatchGetInstancesResponse> {
    const recorder = recorderFor(this.#runtime, request, call);
    const refs = new Map<string, NodeRef>();
    const questions: Questions = { refs, named: new RequestDedup() };
    const planned = request.nodes.map((node) => this.#plan(node, questions));
    const maxDataAgeMs = fromDuration(request.maxDataAge, defaultMaxDataAgeMs);
    const found = await this.#lookUp.ask({ refs, recorder, maxDataAgeMs });
    return {
      results: planned.map((item) =>
        item.kind === "answered"
          ? { outcome: item.outcome, readTime: undefined }
          : this.#toWire(found.get(item.key), refs.get(item.key), item.prefix),
      ),
      scopeId: knownScope(this.#runtime),
      stats: recorder.stats,
    };
  }

  /** Decides what needs no question to the provider, and which Nodes are one question. */
  #plan(node: WireNodeRef, questions: Questions): Planned {
    const { ids } = this.#runtime;
    const { refs } = questions;
    if (node.providerId === "") return this.#planByName(node, questions);
    const parts = ids.parse(node.providerId);
    if (!parts) {
      const message = `provider ID ${node.providerId} has none of the prefixes ${ids.prefixes.join(", ")}`;
      return { kind: "answered", outcome: { $case: "notOwned", value: { message } } };
    }
    if (parts.id === "")
      return refused("PROVIDER_ID_MALFORMED", `provider ID ${node.providerId} has nothing after its prefix`);
    const key = `id ${node.providerId}`;
    if (!refs.has(key)) refs.set(key, fromWireNodeRef(node, parts));
    return { kind: "lookUp", key, prefix: parts.prefix };
  }

  #planByName(node: WireNodeRef, { refs, named }: Questions): Planned {
    if (!this.#runtime.capabilities.instances?.lookupByName)
      return refused(
        "FEATURE_UNSUPPORTED",
        `Node ${node.name} has no provider ID; machines are not looked up by name here`,
      );
    // Nodes without provider ID are one question only when every hint is the same.
    const key = `name ${this.#sharesLookUps ? JSON.stringify(node) : named.keyOf(node)}`;
    if (!refs.has(key)) refs.set(key, fromWireNodeRef(node, undefined));
    return { kind: "lookUp", key, prefix: undefined };
  }

  #toWire(
    result: LookUpResult<Instance> | undefined,
    ref: NodeRef | undefined,
    prefix: string | undefined,
  ): WireInstanceResult {
    if (!result) return { outcome: unanswered(), readTime: undefined };
    const { readTime } = result;
    if (result.kind === "common") return { outcome: result.outcome, readTime };
    const { rules, ids } = this.#runtime;
    const answered = toWireResult(rules, "Instance", () => toWireInstance(result.found, ids, prefix));
    const value = answered instanceof ProviderError ? answered : askedFor(ref, answered);
    if (!(value instanceof ProviderError)) return { outcome: { $case: "instance", value }, readTime };
    this.#runtime.log.error("The provider answered an instance that breaks the contract", { error: value });
    return { outcome: unknownOutcome(value), readTime };
  }

  /** Absence of what is younger than the cloud's read consistency means nothing yet. */
  #tooYoung(ref: NodeRef, absent: Absent): ProviderError | undefined {
    if (!ref.createTime || absent.basis === "TERMINATED" || absent.stronglyConsistent) return undefined;
    const declared = this.#runtime.capabilities.instances?.existenceConsistencyDelay;
    const delayMs = fromDuration(declared, defaultConsistencyDelayMs);
    const ageMs = this.#runtime.nowMs() - ref.createTime.getTime();
    if (ageMs >= delayMs) return undefined;
    return new ProviderError(
      "NOT_YET_CONSISTENT",
      `Node ${ref.name} is ${Math.round(ageMs / 1_000)} s old; the cloud may not show a machine for ${Math.round(delayMs / 1_000)} s`,
      { retryAfterMs: delayMs - ageMs },
    );
  }
}

const refused = (reason: "PROVIDER_ID_MALFORMED" | "FEATURE_UNSUPPORTED", message: string): Planned => ({
  kind: "answered",
  outcome: unknownOutcome(new ProviderError(reason, message)),
});

const unanswered = () =>
  unknownOutcome(new ProviderError("INVARIANT_BROKEN", "the provider did not answer for this node"));

/**
 * The provider ID alone decides which machine is meant: answers that got out of step must not label another Node. The ID of the same
 * instance in another form becomes the requested one, which the Node has for its life.
 */
const askedFor = (ref: NodeRef | undefined, answered: WireInstance): WireInstance | ProviderError => {
  const { providerId } = answered;
  if (ref?.providerId === undefined) return answered;
  if (isSameInstance(ref.providerId, providerId)) return { ...answered, providerId: ref.providerId };
  return new ProviderError(
    "INVARIANT_BROKEN",
    `the provider was asked for ${ref.providerId} and answered ${providerId}`,
  );
};
