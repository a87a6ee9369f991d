import {
  type Absence as WireAbsence,
  AbsenceBasis as WireBasis,
  type NodeAddress as WireNodeAddress,
} from "@cloudwire/proto/cloudprovider/v1/common";
import * as Wire from "@cloudwire/proto/cloudprovider/v1/instance";
import { wordOf } from "@cloudwire/proto/words";
import type { InstanceHint } from "../model/client.ts";
import type { NodeAddress } from "../../api/node.ts";
import { RESPONSE_INVALID } from "../model/breach.ts";
import { ProviderError } from "../model/errors.ts";
import type { Absence, Instance, InstanceAnswer, Witness } from "../model/instance.ts";
import { InstanceMap, isSameInstance } from "../../util/values/provider-id.ts";
import { addressTypeFromProto, timeMs } from "./scalars.ts";
import { errorOfItem } from "./errors.ts";

/** Data of the response that every result needs. */
export interface AnswerContext {
  readonly witness: Witness;
  readonly requestId: string;
  /** Age of the oldest data in the response; undefined: unknown. */
  readonly dataAgeMs: number | undefined;
}

export interface RequestedNode {
  readonly name: string;
  readonly createTime: Date | undefined;
}

/** An absence that the contract's rules ([ABS-7]) do not prove is "unknown". */
export function instanceAnswer(
  result: Wire.InstanceResult,
  node: RequestedNode,
  context: AnswerContext,
): InstanceAnswer {
  const { outcome } = result;
  if (outcome === undefined) return unproven("the result has no outcome", node, context);
  switch (outcome.$case) {
    case "instance":
      return presentAnswer(outcome.value, result.readTime, node, context);
    case "absent":
      return absentAnswer(outcome.value, node, context);
    case "unknown":
      return { kind: "unknown", error: errorOfItem(outcome.value, what(node, context), context.requestId) };
    case "notOwned":
      return { kind: "notOwned", message: outcome.value.message };
  }
  return outcome satisfies never;
}

/** Unusable values are left out and listed in `warnings`. */
export function instanceFromProto(wire: Wire.Instance): Instance {
  const { addresses, warnings } = addressesFromProto(wire.addresses);
  return {
    providerId: wire.providerId,
    name: wire.name,
    instanceType: nonEmpty(wire.instanceType),
    zone: nonEmpty(wire.zone),
    region: nonEmpty(wire.region),
    addresses,
    state: wordOf(STATES, wire.state) ?? "unknown",
    stateReason: wire.stateReason,
    labels: wire.labels,
    podCidrs: wire.podCidrs?.cidrs,
    createTimeMs: timeMs(wire.createTime),
    revision: wire.revision,
    warnings,
  };
}

/** The absence, or in one phrase why it is not proven. */
export function absenceFromProto(wire: WireAbsence, notBefore: Date | undefined, witness: Witness): Absence | string {
  const basis = wordOf(BASES, wire.basis);
  if (basis === undefined) return "the absence has no basis";
  const observeTimeMs = timeMs(wire.observeTime);
  if (observeTimeMs === undefined) return "the absence has no observe time";
  const createTimeMs = timeMs(notBefore);
  if (createTimeMs !== undefined && observeTimeMs < createTimeMs) {
    return "the cloud was read before the object was created";
  }
  return { basis, observeTimeMs, strong: wire.stronglyConsistent, witness };
}

function presentAnswer(
  wire: Wire.Instance,
  readTime: Date | undefined,
  node: RequestedNode,
  context: AnswerContext,
): InstanceAnswer {
  if (wire.providerId === "") return unproven("the instance has no provider ID", node, context);
  const { witness, dataAgeMs } = context;
  const readTimeMs = timeMs(readTime) ?? witness.receivedAtMs - (dataAgeMs ?? 0);
  return { kind: "present", instance: instanceFromProto(wire), readTimeMs, witness };
}

function absentAnswer(wire: WireAbsence, node: RequestedNode, context: AnswerContext): InstanceAnswer {
  const absence = absenceFromProto(wire, node.createTime, context.witness);
  return typeof absence === "string" ? unproven(absence, node, context) : { kind: "absent", ...absence };
}

function unproven(problem: string, node: RequestedNode, context: AnswerContext): InstanceAnswer {
  return { kind: "unknown", error: brokenAnswer(problem, what(node, context), context.requestId) };
}

/** The response violates the contract and must be ignored. */
export function brokenAnswer(problem: string, about: string, requestId: string): ProviderError {
  const message = `${about}: ${problem}; report it to the provider's vendor`;
  const { reason, domain } = RESPONSE_INVALID;
  return new ProviderError({ code: "INTERNAL", reason, domain, message, requestId });
}

function what(node: RequestedNode, { witness }: AnswerContext): string {
  return `${witness.provider}: node ${node.name}`;
}

const BASES = {
  terminated: WireBasis.TERMINATED,
  lookupMiss: WireBasis.LOOKUP_MISS,
  completeListMiss: WireBasis.COMPLETE_LIST_MISS,
} as const;

const STATES = {
  pending: Wire.InstanceState.PENDING,
  running: Wire.InstanceState.RUNNING,
  stopping: Wire.InstanceState.STOPPING,
  stopped: Wire.InstanceState.STOPPED,
  terminating: Wire.InstanceState.TERMINATING,
} as const;

/** Drops unknown types and duplicates; keeps the order. */
export function addressesFromProto(wire: readonly WireNodeAddress[]): {
  readonly addresses: readonly NodeAddress[];
  readonly warnings: readonly string[];
} {
  const addresses = new Map<string, NodeAddress>();
  const warnings: string[] = [];
  for (const { type: wireType, address } of wire) {
    const type = addressTypeFromProto(wireType);
    const key = `${type} ${address}`;
    if (type === undefined) warnings.push(`dropped address ${address} of unknown type ${wireType}`);
    else if (addresses.has(key)) warnings.push(`address ${address} of type ${type} is a duplicate`);
    else addresses.set(key, { type, address });
  }
  return { addresses: [...addresses.values()], warnings };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** Detects a wrong order: the result of one node has the provider ID of another. */
export function misaligned(
  results: readonly Wire.InstanceResult[],
  nodes: readonly { readonly providerId: string }[],
): string | undefined {
  const requested = new InstanceMap<true>();
  for (const { providerId } of nodes) requested.add(providerId, true);
  for (const [index, { outcome }] of results.entries()) {
    const expected = nodes[index]?.providerId ?? "";
    if (outcome?.$case !== "instance" || expected === "") continue;
    const { providerId } = outcome.value;
    if (!isSameInstance(providerId, expected) && requested.has(providerId)) {
      return `result ${index} is ${providerId} instead of ${expected}`;
    }
  }
  return undefined;
}

/** For hints of unknown kinds: their token still counts. */
export const NOTHING_NEW = { kind: "bookmark", initialEventsEnd: false } as const;

export function instanceHint(event: Wire.WatchInstancesResponse["event"]): InstanceHint {
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
