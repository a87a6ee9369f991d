import type { EnsureLoadBalancerInput, NodeSelection } from "../../../provider/model/client.ts";

/** What a provider is asked to make of a Service. */
export interface Wish {
  /** undefined: an earlier process asked for it, and only its fingerprint is known. */
  readonly spec: EnsureLoadBalancerInput["spec"] | undefined;
  readonly specFingerprint: string;
  readonly nodes: NodeSelection;
  /** Instead of a new one: the one that exists and shall become the Service's. */
  readonly adoptLoadBalancerId?: string;
}
