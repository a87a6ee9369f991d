import {
  absent,
  type Instance,
  type InstanceBatchResult,
  type NodeRef,
  notOwned,
  ProviderError,
} from "@cloudwire/provider-sdk";
import { instanceIdInName, parseId } from "./provider-id.ts";
import { isTerminated, type KnownMachine, nodeNameOf, type NodeNameSource, terminationTimeOf } from "./to-instance.ts";

/** The key for looking up a Node's instance. */
export type Question =
  | { readonly kind: "id"; readonly instanceId: string; readonly isNamed: boolean }
  | { readonly kind: "name"; readonly name: string; readonly nodeCreated: Date | undefined }
  | { readonly kind: "answered"; readonly answer: InstanceBatchResult };

/** A provider ID alone decides; without it the Node's name does. */
export function questionOf(
  { id, name, createTime }: Pick<NodeRef, "id" | "name" | "createTime">,
  source: NodeNameSource,
): Question {
  if (id === undefined) {
    const instanceId = source.kind === "privateDnsName" ? instanceIdInName(name) : undefined;
    if (instanceId === undefined) return { kind: "name", name, nodeCreated: createTime };
    return { kind: "id", instanceId, isNamed: true };
  }
  const parsed = parseId(id);
  switch (parsed.kind) {
    case "instance":
      return { kind: "id", instanceId: parsed.instanceId, isNamed: false };
    case "foreign":
      return { kind: "answered", answer: notOwned("a Fargate pod is not an EC2 instance") };
    case "malformed":
      return { kind: "answered", answer: new ProviderError("PROVIDER_ID_MALFORMED", parsed.problem) };
  }
  return parsed satisfies never;
}

/** What EC2 was read to have. */
export interface Found {
  readonly byId: ReadonlyMap<string, KnownMachine>;
  readonly byName: ReadonlyMap<string, readonly KnownMachine[]>;
  /** Ids for which EC2 had nothing now, and a machine that was not terminated a short time ago. */
  readonly vanished: ReadonlySet<string>;
}

/** The scope of Node names, because private DNS names are unique only within a VPC. */
export interface NamePlace {
  readonly nodeNames: NodeNameSource;
  readonly vpcId: string;
}

export function foundOf(
  machines: readonly KnownMachine[],
  { nodeNames, vpcId }: NamePlace,
  vanished: ReadonlySet<string> = new Set(),
): Found {
  const byId = new Map(machines.map((machine) => [machine.InstanceId, machine]));
  // A machine may have been read more than once.
  const inVpc = [...byId.values()].filter(({ VpcId }) => VpcId === vpcId);
  return { byId, byName: Map.groupBy(inVpc, (machine) => nodeNameOf(machine, nodeNames)), vanished };
}

/** The answer about one Node; `show` makes an instance of a machine that is not terminated. */
export function answerOf(
  question: Question,
  found: Found,
  show: (machine: KnownMachine) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  switch (question.kind) {
    case "answered":
      return question.answer;
    case "id":
      return answerById(question.instanceId, found, show, observeTime);
    case "name":
      return answerByName(question, found, show, observeTime);
  }
  return question satisfies never;
}

function answerById(
  instanceId: string,
  { byId, vanished }: Found,
  show: (machine: KnownMachine) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  const machine = byId.get(instanceId);
  if (machine) return answerFor(machine, show, observeTime);
  if (!vanished.has(instanceId)) return absent("LOOKUP_MISS", { observeTime });
  // EC2 returns a terminated instance for about an hour, so this read is stale.
  return new ProviderError(
    "INCOMPLETE_ANSWER",
    `EC2 has recently returned ${instanceId} but not now: the read is stale`,
  );
}

function answerByName(
  { name, nodeCreated }: Extract<Question, { kind: "name" }>,
  { byName }: Found,
  show: (machine: KnownMachine) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  const all = byName.get(name) ?? [];
  const alive = all.filter((machine) => !isTerminated(machine));
  if (alive.length > 1) {
    const matches = alive.map(({ InstanceId }) => InstanceId).join(",");
    return new ProviderError("AMBIGUOUS_NAME", `${alive.length} instances have the name ${name}: ${matches}`, {
      metadata: { matches },
    });
  }
  const machine = alive[0] ?? all.find((gone) => mayHaveRun(gone, nodeCreated));
  return machine ? answerFor(machine, show, observeTime) : absent("LOOKUP_MISS", { observeTime });
}

/** A machine that was terminated before the Node existed only had the same name. */
function mayHaveRun(gone: KnownMachine, nodeCreated: Date | undefined): boolean {
  if (nodeCreated === undefined) return true;
  const terminated = terminationTimeOf(gone);
  return terminated !== undefined && terminated >= nodeCreated;
}

/** Terminated is a word for ever, however old the read. */
function answerFor(
  machine: KnownMachine,
  show: (machine: KnownMachine) => Instance,
  observeTime: Date,
): InstanceBatchResult {
  if (isTerminated(machine)) return absent("TERMINATED", { observeTime, stronglyConsistent: true });
  return show(machine);
}
