import {
  type Absence as WireAbsence,
  AbsenceBasis as WireBasis,
  type NodeAddress as WireNodeAddress,
} from "@cloudwire/proto/cloudprovider/v1/common";
import type { InstanceHint } from "../model/client.ts";
import {
  type InstanceResult as WireInstanceResult,
  type WatchInstancesResponse,
  InstanceState as WireState,
  type Instance as WireInstance,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import type { NodeAddress } from "../../api/node.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import type { Absence, AbsenceBasis, Instance, InstanceResult, InstanceState, Witness } from "../model/instance.ts";
import { addressTypeFromProto, timeMs } from "./scalars.ts";
import { errorOfItem } from "./errors.ts";

/** What is known besides the result itself when an answer is judged. */
export interface AnswerContext {
  readonly witness: Witness;
  readonly requestId: string;
  /** Age of the oldest data in the response; undefined when it was not said. */
  readonly dataAgeMs: number | undefined;
}

/** The node that was asked about. */
export interface AskedNode {
  readonly name: string;
  readonly createTime: Date | undefined;
}

/** One result as our answer. An absence that is not proven by the contract's rules ([ABS-7]) is "unknown", never "absent". */
export function instanceAnswer(result: WireInstanceResult, asked: AskedNode, context: AnswerContext): InstanceResult {
  const { outcome } = result;
  if (outcome === undefined) return unproven("the result has no outcome", asked, context);
  switch (outcome.$case) {
    case "instance":
      return presentAnswer(outcome.value, result.readTime, asked, context);
    case "absent":
      return absentAnswer(outcome.value, asked, context);
    case "unknown":
      return { kind: "unknown", error: errorOfItem(outcome.value, what(asked, context), context.requestId) };
    case "notOwned":
      return { kind: "notOwned", message: outcome.value.message };
  }
  return outcome satisfies never;
}

/** The machine itself; what is not usable in it is left out and told in `warnings`. */
export function instanceFromProto(wire: WireInstance): Instance {
  const { addresses, warnings } = addressesFromProto(wire.addresses);
  return {
    providerId: wire.providerId,
    name: wire.name,
    instanceType: nonEmpty(wire.instanceType),
    zone: nonEmpty(wire.zone),
    region: nonEmpty(wire.region),
    addresses,
    state: instanceState(wire.state),
    stateReason: wire.stateReason,
    labels: wire.labels,
    podCidrs: wire.podCidrs?.cidrs,
    createTimeMs: timeMs(wire.createTime),
    revision: wire.revision,
    warnings,
  };
}

/** The absence, or in one phrase why it proves nothing. */
export function absenceFromProto(wire: WireAbsence, notBefore: Date | undefined, witness: Witness): Absence | string {
  const basis = absenceBasis(wire.basis);
  if (basis === undefined) return "the absence does not say on what it rests";
  const observeTimeMs = timeMs(wire.observeTime);
  if (observeTimeMs === undefined) return "the absence does not say when the cloud was read";
  const createTimeMs = timeMs(notBefore);
  if (createTimeMs !== undefined && observeTimeMs < createTimeMs)
    return "the cloud was read before the object was made";
  return { basis, observeTimeMs, strong: wire.stronglyConsistent, witness };
}

function presentAnswer(
  wire: WireInstance,
  readTime: Date | undefined,
  asked: AskedNode,
  context: AnswerContext,
): InstanceResult {
  if (wire.providerId === "") return unproven("the instance has no provider ID", asked, context);
  const { witness, dataAgeMs } = context;
  const readTimeMs = timeMs(readTime) ?? witness.receivedAtMs - (dataAgeMs ?? 0);
  return { kind: "present", instance: instanceFromProto(wire), readTimeMs, witness };
}

function absentAnswer(wire: WireAbsence, asked: AskedNode, context: AnswerContext): InstanceResult {
  const absence = absenceFromProto(wire, asked.createTime, context.witness);
  return typeof absence === "string" ? unproven(absence, asked, context) : { kind: "absent", ...absence };
}

function unproven(why: string, asked: AskedNode, context: AnswerContext): InstanceResult {
  return { kind: "unknown", error: brokenAnswer(why, what(asked, context), context.requestId) };
}

/** The provider answered, but not as the contract demands: nothing may be concluded. */
export function brokenAnswer(why: string, about: string, requestId: string): ProviderError {
  const message = `${about}: ${why}; report it to the provider's vendor`;
  return contractError("INVARIANT_BROKEN", message, { requestId });
}

function what(asked: AskedNode, { witness }: AnswerContext): string {
  return `${witness.provider}: node ${asked.name}`;
}

function absenceBasis(basis: WireBasis): AbsenceBasis | undefined {
  switch (basis) {
    case WireBasis.TERMINATED:
      return "terminated";
    case WireBasis.LOOKUP_MISS:
      return "lookupMiss";
    case WireBasis.COMPLETE_LIST_MISS:
      return "completeListMiss";
    default:
      return undefined;
  }
}

function instanceState(state: WireState): InstanceState {
  switch (state) {
    case WireState.PENDING:
      return "pending";
    case WireState.RUNNING:
      return "running";
    case WireState.STOPPING:
      return "stopping";
    case WireState.STOPPED:
      return "stopped";
    case WireState.TERMINATING:
      return "terminating";
    default:
      return "unknown";
  }
}

/** Types that are not known and repetitions are dropped; the order is kept. */
export function addressesFromProto(wire: readonly WireNodeAddress[]): {
  readonly addresses: readonly NodeAddress[];
  readonly warnings: readonly string[];
} {
  const addresses = new Map<string, NodeAddress>();
  const warnings: string[] = [];
  for (const { type: wireType, address } of wire) {
    const type = addressTypeFromProto(wireType);
    const key = `${type} ${address}`;
    if (type === undefined)
      warnings.push(`address ${address} has type ${wireType}, which is not known, and was dropped`);
    else if (addresses.has(key)) warnings.push(`address ${address} of type ${type} was given twice`);
    else addresses.set(key, { type, address });
  }
  return { addresses: [...addresses.values()], warnings };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** An instance answered for one node that carries the provider ID asked for another: results stand in the wrong order. */
export function misaligned(
  results: readonly WireInstanceResult[],
  nodes: readonly { readonly providerId: string }[],
): string | undefined {
  const asked = new Set(nodes.map((node) => node.providerId));
  for (const [index, { outcome }] of results.entries()) {
    const wanted = nodes[index]?.providerId ?? "";
    if (outcome?.$case !== "instance" || wanted === "") continue;
    const { providerId } = outcome.value;
    if (providerId !== wanted && asked.has(providerId)) {
      return `result ${index} is ${providerId}, but ${wanted} was asked there`;
    }
  }
  return undefined;
}

/** A hint of a kind newer than this program says nothing here; its token still counts. */
export const NOTHING_NEW = { kind: "bookmark", initialEventsEnd: false } as const;

export function instanceHint(event: WatchInstancesResponse["event"]): InstanceHint {
  if (event === undefined) return NOTHING_NEW;
  switch (event.$case) {
    case "upsert":
      return { kind: "upsert", instance: instanceFromProto(event.value) };
    case "gone":
      return { kind: "gone", providerId: event.value.providerId };
    case "bookmark":
      return { kind: "bookmark", initialEventsEnd: event.value.initialEventsEnd };
    case "resync":
      return { kind: "resync", message: event.value.message };
  }
  return event satisfies never;
}
