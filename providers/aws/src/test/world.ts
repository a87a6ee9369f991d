import type {
  ChangeContext,
  Diagnostic,
  LoadBalancerHandlers,
  Logger,
  PlannedChange,
  TargetNode,
} from "@cloudwire/provider-sdk";
import { MachineReader } from "../instances/machine-reader.ts";
import { loadBalancerHandlers } from "../load-balancers/handlers.ts";
import { FakeAws } from "./fake-aws.ts";
import { vpcId } from "./fake-ec2.ts";

/** The load balancer handlers over an account in memory with two subnets and the machines `i-…01` to `i-…09`, which run. */
export interface World {
  readonly aws: FakeAws;
  readonly handlers: LoadBalancerHandlers;
  readonly context: ChangeContext;
  readonly diagnostics: Diagnostic[];
  readonly planned: PlannedChange[];
}

const noLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => noLog,
};

export function startWorld(): World {
  const aws = new FakeAws();
  const role = new Map([
    ["kubernetes.io/role/elb", "1"],
    ["kubernetes.io/role/internal-elb", "1"],
  ]);
  for (const id of ["subnet-1", "subnet-2"]) aws.ec2.subnets.set(id, new Map(role));
  for (let number = 1; number < 10; number += 1) {
    const id = machineId(number);
    aws.ec2.machines.set(id, { id, state: "running", groups: [] });
  }
  const settings = { vpcId, nodeSecurityGroups: [], sharedSecurityGroups: [] };
  const diagnostics: Diagnostic[] = [];
  const planned: PlannedChange[] = [];
  return {
    aws,
    handlers: loadBalancerHandlers(aws.calls, new MachineReader(aws.calls, Date.now), settings),
    context: {
      signal: new AbortController().signal,
      remainingMs: () => 60_000,
      method: "EnsureLoadBalancer",
      requestId: "request-1",
      cluster: { id: "cluster-1", name: "blue" },
      log: noLog,
      fetch,
      recordCloudCall: () => undefined,
      changeId: "change-1",
      validateOnly: false,
      addPlannedChange: (change) => planned.push(change),
      addDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
      reportProgress: () => undefined,
    },
    diagnostics,
    planned,
  };
}

export function machineId(number: number): string {
  return `i-${String(number).padStart(17, "0")}`;
}

/** Nodes of these machines. */
export function nodesOf(...numbers: readonly number[]): readonly TargetNode[] {
  return numbers.map((number) => {
    const id = `/zone-a/${machineId(number)}`;
    return { name: `node-${number}`, id, providerId: `aws://${id}`, addresses: [], labels: {} };
  });
}
