import type { NodeAddress } from "../../api/node.ts";
import type { ProviderError } from "./errors.ts";

/** What a provider gets to find the machine behind a Node. */
export interface NodeRef {
  readonly name: string;
  readonly uid: string;
  /** "": not known yet. */
  readonly providerId: string;
  /** 0: not said. */
  readonly createTimeMs: number;
  readonly systemUuid: string;
  readonly providedNodeIps: readonly string[];
  /** Only those that the contract has room for. */
  readonly addresses: readonly NodeAddress[];
  /** Of the Node, under the keys that the provider declared. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A machine as its cloud has it. What is `undefined` or empty was not said: leave the Node's own value alone. */
export interface Instance {
  /** `<prefix><id>`, what belongs in spec.providerID. */
  readonly providerId: string;
  /** Name at the cloud. */
  readonly name: string;
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly region: string | undefined;
  /** In the cloud's order of preference, without duplicates, of known types only. */
  readonly addresses: readonly NodeAddress[];
  readonly state: InstanceState;
  /** The cloud's word for the state, for people. */
  readonly stateReason: string;
  /** More labels for the Node, unfiltered. */
  readonly labels: Readonly<Record<string, string>>;
  /** undefined when the provider does not allocate pod ranges; empty when none is allocated yet. */
  readonly podCidrs: readonly string[] | undefined;
  readonly createTimeMs: number | undefined;
  /** Opaque; another value means that something else changed. */
  readonly revision: string;
  /** What was dropped from the provider's answer and why, one sentence each, to be logged. */
  readonly warnings: readonly string[];
}

/** "unknown": the provider did not say, or said something newer than this program. */
export type InstanceState = "unknown" | "pending" | "running" | "stopping" | "stopped" | "terminating";

/** What an absence rests on: the cloud says terminated; a look-up by id missed; a complete list lacks it. */
export type AbsenceBasis = "terminated" | "lookupMiss" | "completeListMiss";

/** An authoritative "does not exist" and all there is to judge it by. */
export interface Absence {
  readonly basis: AbsenceBasis;
  /** When the cloud was read. */
  readonly observeTimeMs: number;
  /** A second read would say the same. */
  readonly strong: boolean;
  /** Who said so. */
  readonly witness: Witness;
}

/** The provider process an answer came from. */
export interface Witness {
  readonly provider: string;
  readonly scopeId: string;
  readonly bootId: string;
  /** When the answer arrived here. */
  readonly receivedAtMs: number;
}

/** What is known about the machine behind one Node. Only "absent" ever means that there is none. */
export type InstanceResult =
  | { readonly kind: "present"; readonly instance: Instance; readonly readTimeMs: number; readonly witness: Witness }
  | ({ readonly kind: "absent" } & Absence)
  | { readonly kind: "unknown"; readonly error: ProviderError }
  | { readonly kind: "notOwned"; readonly message: string };
