import { DeregisterTargetsCommand, RegisterTargetsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import {
  type ChangeContext,
  chunksOf,
  inHalves,
  type TargetNode,
  type UnregisteredNode,
} from "@cloudwire/provider-sdk";
import { errorCode, isCode } from "../../cloud/errors.ts";
import { parseId } from "../../instances/provider-id.ts";
import { differenceOf, isEmpty } from "../diff.ts";
import { type Exchange, exchange } from "../exchange.ts";
import type { Tools, Work } from "../tools.ts";
import { type LeftOut, leftOutOf, refusals, someOf, unregisteredNodes } from "./left-out.ts";

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

/** The nodes by the IDs of their instances. Nodes without an EC2 instance are reported and left out. */
export function targetNodes(
  nodes: readonly TargetNode[],
  context: Pick<ChangeContext, "addDiagnostic">,
): ReadonlyMap<string, TargetNode> {
  const byId = new Map<string, TargetNode>();
  const foreign: string[] = [];
  for (const node of nodes) {
    const parsed = node.id === undefined ? undefined : parseId(node.id);
    if (parsed?.kind === "instance") byId.set(parsed.instanceId, node);
    else foreign.push(node.name);
  }
  if (foreign.length > 0) {
    const summary = `No targets, because their instances are not in EC2: ${someOf(foreign)}`;
    context.addDiagnostic({ reason: "NodesOfOtherProviders", summary });
  }
  return byId;
}

/** What became of the nodes. */
export interface Registration {
  readonly registeredNodes: number;
  /** Those that are not targets yet. */
  readonly unregisteredNodes: readonly UnregisteredNode[];
}

/** Makes the machines be the targets of each group. */
export async function ensureTargets(
  tools: Tools,
  groups: readonly Pick<TargetedGroup, "name" | "arn">[],
  wanted: ReadonlyMap<string, TargetNode>,
  work: Work,
): Promise<Registration> {
  const plans = await Promise.all(
    groups.map(async ({ name, arn }) => {
      const present = arn === undefined ? [] : await tools.reader.targets(arn, work.context);
      return { name, arn, present, difference: differenceOf(wanted.keys(), present, (id) => id) };
    }),
  );
  const fresh = [...new Set(plans.flatMap(({ difference }) => difference.added))];
  const leftOut = new Map(await unfit(tools, fresh, work));
  for (const { difference, present, ...group } of plans) {
    const added = difference.added.filter((id) => !leftOut.has(id));
    const change = {
      added,
      removed: difference.removed,
      kept: present.length - difference.removed.length,
      wantsNone: wanted.size === 0,
    };
    for (const [id, why] of await apply(tools, group, change, work)) leftOut.set(id, why);
  }
  const registeredNodes = [...wanted.keys()].filter((id) => !leftOut.has(id)).length;
  return { registeredNodes, unregisteredNodes: unregisteredNodes(leftOut, wanted, work) };
}

/** AWS refuses all targets of a request for one that does not run, or is in another VPC. */
async function unfit(
  { machines, settings }: Tools,
  ids: readonly string[],
  work: Work,
): Promise<readonly (readonly [id: string, why: LeftOut])[]> {
  const found = await machines.matching("instance-id", ids, [], work.context);
  const byId = new Map(found.map((machine) => [machine.InstanceId, machine]));
  return ids.flatMap((id) => {
    const why = leftOutOf(byId.get(id), settings.vpcId);
    return why ? [[id, why] as const] : [];
  });
}

/** Answers the targets that AWS refused, with the reason. */
async function apply(
  { aws }: Tools,
  { name, arn }: Pick<TargetedGroup, "name" | "arn">,
  change: Exchange<string>,
  work: Work,
): Promise<ReadonlyMap<string, LeftOut>> {
  const refused = new Map<string, LeftOut>();
  const isWithoutEffect = change.added.length === 0 && change.kept === 0 && !change.wantsNone;
  if (isEmpty(change) || isWithoutEffect) return refused;
  const summary = `${change.added.length} targets added, ${change.removed.length} removed`;
  const input = (ids: readonly string[]) => ({ TargetGroupArn: arn, Targets: ids.map((Id) => ({ Id })) });
  const isOfItem = (error: unknown): boolean => isCode(error, ...refusals.keys());
  const register = async (ids: readonly string[]): Promise<number> => {
    await aws.elb(work.context, (client, options) => client.send(new RegisterTargetsCommand(input(ids)), options));
    return ids.length;
  };
  const deregister = (ids: readonly string[]) =>
    aws.elb(work.context, (client, options) => client.send(new DeregisterTargetsCommand(input(ids)), options));
  const refuse = (id: string, error: unknown): void => {
    const why = refusals.get(errorCode(error) ?? "");
    if (why) refused.set(id, why);
  };
  await work.change({ action: "update", resourceType: "target group", resourceId: name, summary }, () =>
    exchange(change, {
      add: async (ids) => {
        let count = 0;
        for (const chunk of chunksOf(ids, maxTargets)) {
          for (const part of await inHalves(chunk, register, isOfItem, refuse)) count += part;
        }
        return count;
      },
      // An instance that does not exist is a target no longer.
      remove: async (ids) => {
        for (const chunk of chunksOf(ids, maxTargets)) await inHalves(chunk, deregister, isOfItem);
      },
      isFull: (error) => isCode(error, "TooManyTargets"),
    }),
  );
  return refused;
}
