import { DeregisterTargetsCommand, RegisterTargetsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type ChangeContext, chunksOf, inHalves, type TargetNode } from "@cloudwire/provider-sdk";
import { errorCode, isCode } from "../../cloud/errors.ts";
import { parseId } from "../../instances/provider-id.ts";
import { type Difference, differenceOf, isEmpty } from "../diff.ts";
import { exchange } from "../exchange.ts";
import type { Tools, Work } from "../tools.ts";

/** A target group to fill with the nodes. */
export interface TargetedGroup {
  readonly name: string;
  /** Undefined: it would be made, but nothing may be changed. */
  readonly arn: string | undefined;
  /** True: it was made by this call, with all its tags. */
  readonly isNew: boolean;
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
  groups: readonly Pick<TargetedGroup, "name" | "arn">[],
  wantedIds: readonly string[],
  work: Work,
): Promise<number> {
  const plans = await Promise.all(
    groups.map(async ({ name, arn }) => {
      const present = arn === undefined ? [] : await tools.reader.targets(arn, work.context);
      return { name, arn, present, difference: differenceOf(wantedIds, present, (id) => id) };
    }),
  );
  const fresh = [...new Set(plans.flatMap(({ difference }) => difference.added))];
  const leftOut = new Map(
    (await unfit(tools, fresh, work)).map((id) => [id, `is not a running instance of ${tools.settings.vpcId}`]),
  );
  for (const { difference, present, ...group } of plans) {
    const added = difference.added.filter((id) => !leftOut.has(id));
    const refused = await apply(tools, group, { ...difference, added }, present.length, work);
    for (const [id, why] of refused) leftOut.set(id, why);
  }
  tellLeftOut(leftOut, work);
  return wantedIds.filter((id) => !leftOut.has(id)).length;
}

/** AWS refuses all targets of a request for one that does not run, or is in another VPC. */
async function unfit({ machines, settings }: Tools, ids: readonly string[], work: Work): Promise<readonly string[]> {
  const found = await machines.matching("instance-id", ids, [], work.context);
  const fit = new Set(
    found
      .filter(({ State, VpcId }) => State?.Name === "running" && VpcId === settings.vpcId)
      .map(({ InstanceId }) => InstanceId),
  );
  return ids.filter((id) => !fit.has(id));
}

/** Answers the targets that AWS refused, with the reason. */
async function apply(
  { aws }: Tools,
  { name, arn }: Pick<TargetedGroup, "name" | "arn">,
  difference: Difference<string>,
  presentCount: number,
  work: Work,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  if (isEmpty(difference)) return refused;
  const { added, removed } = difference;
  const summary = `${added.length} targets added, ${removed.length} removed`;
  const input = (ids: readonly string[]) => ({ TargetGroupArn: arn, Targets: ids.map((Id) => ({ Id })) });
  const register = (ids: readonly string[]) =>
    aws.elb(work.context, (client, options) => client.send(new RegisterTargetsCommand(input(ids)), options));
  const refuse = (id: string, error: unknown) => refused.set(id, refusals.get(errorCode(error) ?? "") ?? "was refused");
  await work.change({ action: "update", resourceType: "target group", resourceId: name, summary }, () =>
    exchange(difference, presentCount - removed.length, {
      add: async (ids) => {
        for (const chunk of chunksOf(ids, maxTargets)) {
          await inHalves(chunk, register, (error) => isCode(error, ...refusals.keys()), refuse);
        }
      },
      remove: async (ids) => {
        for (const chunk of chunksOf(ids, maxTargets)) {
          await aws.elb(work.context, (client, options) =>
            client.send(new DeregisterTargetsCommand(input(chunk)), options),
          );
        }
      },
      isFull: (error) => isCode(error, "TooManyTargets"),
    }),
  );
  return refused;
}

/** Codes for single targets, with which AWS refuses all targets of a request. */
const refusals: ReadonlyMap<string, string> = new Map([
  ["InvalidTarget", "does not run"],
  ["TooManyRegistrationsForTargetId", "is in as many target groups as AWS permits"],
]);

function tellLeftOut(leftOut: ReadonlyMap<string, string>, { context }: Work): void {
  const byReason = Map.groupBy(leftOut, ([, why]) => why);
  for (const [why, entries] of byReason) {
    const ids = entries.map(([id]) => id);
    const summary = `${ids.length} targets were left out, each because it ${why}: ${someOf(ids)}`;
    context.addDiagnostic({ reason: "TargetsNotFound", summary });
  }
}

const maxShown = 5;

function someOf(items: readonly string[]): string {
  const more = items.length > maxShown ? ` and ${items.length - maxShown} more` : "";
  return `${items.slice(0, maxShown).join(", ")}${more}`;
}
