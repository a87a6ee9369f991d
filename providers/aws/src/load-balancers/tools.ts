import type { ChangeContext, PlannedChange } from "@cloudwire/provider-sdk";
import type { AwsCalls } from "../cloud/aws.ts";
import type { MachineReader } from "../instances/machine-reader.ts";
import type { BalancerReader } from "./reader.ts";

/** Settings of the operator for all load balancers. */
export interface LoadBalancerSettings {
  readonly vpcId: string;
  /** Security groups of nodes, which are to let in what load balancers send. */
  readonly nodeSecurityGroups: readonly string[];
  /** Additional security groups of each load balancer. */
  readonly sharedSecurityGroups: readonly string[];
}

/** What load balancers are made with. */
export interface Tools {
  readonly aws: AwsCalls;
  readonly reader: BalancerReader;
  readonly machines: MachineReader;
  readonly settings: LoadBalancerSettings;
}

/** Applies changes, or only plans them in a validate-only call. */
export class Work {
  readonly context: ChangeContext;

  constructor(context: ChangeContext) {
    this.context = context;
  }

  /** Undefined for a planned change. */
  async change<Result>(planned: PlannedChange, act: () => Promise<Result>): Promise<Result | undefined> {
    if (this.context.validateOnly) {
      this.context.addPlannedChange(planned);
      return undefined;
    }
    return act();
  }
}
