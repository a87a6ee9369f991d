import { DeregisterTargetsCommand, RegisterTargetsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type ChangeContext, chunksOf, type TargetNode } from "@cloudwire/provider-sdk";
import { parseId } from "../../instances/provider-id.ts";
import { type Difference, differenceOf, isEmpty } from "../diff.ts";
import type { Tools, Work } from "../tools.ts";

/** A target group to fill with the nodes. */
export interface TargetedGroup {
  readonly name: string;
  /** Undefined: it would be made, but nothing may be changed. */
  readonly arn: string | undefined;
}

/** Targets of one request. */
const maxTargets = 200;

/** IDs of the nodes' instances. Nodes without an EC2 instance are reported and left out. */
export function targetIds(
  nodes: readonly TargetNode[],
  context: Pick<ChangeContext, "addDiagnostic">,
): readonly string[] {
  const ids = new Set<string>();
  const foreign: string[] = [];
  for (const { id, name } of nodes) {
    const parsed = id === undefined ? undefined : parseId(id);
    if (parsed?.kind === "instance") ids.add(parsed.instanceId);
    else foreign.push(name);
  }
  if (foreign.length > 0) {
    const summary = `No targets, because their instances are not in EC2: ${someOf(foreign)}`;
    context.addDiagnostic({ reason: "NodesOfOtherProviders", summary });
  }
  return [...ids];
}

/** Makes the machines be the targets of each group. Answers how many are. */
export async function ensureTargets(
  tools: Tools,
  groups: readonly TargetedGroup[],
  wantedIds: readonly string[],
  work: Work,
): Promise<number> {
  const plans = await Promise.all(
    groups.map(async ({ name, arn }) => {
      const present = arn === undefined ? [] : await tools.reader.targets(arn, work.context);
      return { name, arn, difference: differenceOf(wantedIds, present, (id) => id) };
    }),
  );
  const fresh = [...new Set(plans.flatMap(({ difference }) => difference.added))];
  const missing = await unfit(tools, fresh, work);
  for (const { name, arn, difference } of plans) {
    await apply(tools, name, arn, { ...difference, added: difference.added.filter((id) => !missing.has(id)) }, work);
  }
  return wantedIds.filter((id) => !missing.has(id)).length;
}

/** AWS refuses all targets of a request for one that does not run, or is in another VPC. */
async function unfit({ machines, settings }: Tools, ids: readonly string[], work: Work): Promise<ReadonlySet<string>> {
  const found = await machines.matching("instance-id", ids, [], work.context);
  const fit = new Set(
    found
      .filter(({ State, VpcId }) => State?.Name === "running" && VpcId === settings.vpcId)
      .map(({ InstanceId }) => InstanceId),
  );
  const missing = ids.filter((id) => !fit.has(id));
  if (missing.length > 0) {
    const summary = `${missing.length} targets are not running instances of ${settings.vpcId} and were left out: ${someOf(missing)}`;
    work.context.addDiagnostic({ reason: "TargetsNotFound", summary });
  }
  return new Set(missing);
}

async function apply(
  { aws }: Tools,
  name: string,
  arn: string | undefined,
  difference: Difference<string>,
  work: Work,
): Promise<void> {
  if (isEmpty(difference)) return;
  const { added, removed } = difference;
  const summary = `${added.length} targets added, ${removed.length} removed`;
  await work.change({ action: "update", resourceType: "target group", resourceId: name, summary }, async () => {
    const toTargets = (ids: readonly string[]) => ids.map((Id) => ({ Id }));
    for (const chunk of chunksOf(added, maxTargets)) {
      const input = { TargetGroupArn: arn, Targets: toTargets(chunk) };
      await aws.elb(work.context, (client, options) => client.send(new RegisterTargetsCommand(input), options));
    }
    for (const chunk of chunksOf(removed, maxTargets)) {
      const input = { TargetGroupArn: arn, Targets: toTargets(chunk) };
      await aws.elb(work.context, (client, options) => client.send(new DeregisterTargetsCommand(input), options));
    }
  });
}

const maxShown = 5;

function someOf(items: readonly string[]): string {
  const more = items.length > maxShown ? ` and ${items.length - maxShown} more` : "";
  return `${items.slice(0, maxShown).join(", ")}${more}`;
}
