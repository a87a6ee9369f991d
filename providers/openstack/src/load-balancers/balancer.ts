import { setTimeout as pause } from "node:timers/promises";
import { type ChangeContext, type LoadBalancerRef, type PlannedChange, ProviderError } from "@cloudwire/provider-sdk";
import { Type } from "typebox";
import { answerOf } from "../cloud/answer.ts";
import type { CallScope } from "../cloud/keystone.ts";
import { isStatus } from "../cloud/errors.ts";
import type { OpenStack } from "../cloud/openstack.ts";
import type { FloatingIps } from "./floating-ips.ts";
import { type Balancer, balancerAnswerSchema, type OctaviaReader } from "./octavia.ts";
import { problemOfTags } from "./ownership.ts";
import { type Step, withPool } from "./plan.ts";
import { failedMessage } from "./to-load-balancer.ts";
import type { LoadBalancerSettings } from "./octavia-spec.ts";

/** What load balancers are made with. */
export interface Tools {
  readonly openStack: OpenStack;
  readonly reader: OctaviaReader;
  readonly floatingIps: FloatingIps;
  readonly settings: LoadBalancerSettings;
}

/**
 * Between two looks at a load balancer that Octavia works on: a change takes a driver some milliseconds or some seconds, a new virtual machine a minute or
 * two. So each wait is twice the one before, up to the longest.
 */
const firstLookMs = 200;
const longestLookMs = 3_000;

const service = "load-balancer";
const anything = Type.Unknown();
const madePool = Type.Object({ pool: Type.Object({ id: Type.String() }) });

/** What Octavia has for a Service. */
export interface FoundBalancer {
  /** The Service's own, the one that is kept first. */
  readonly own: readonly Balancer[];
  /** Why the name cannot be taken. */
  readonly problem: ProviderError | undefined;
  readonly observeTime: Date;
}

type Ref = Pick<LoadBalancerRef, "key" | "cluster" | "service">;

/** Octavia lets many have one name: what a call that was cut off has made twice is found, too. */
export async function findBalancer({ reader }: Tools, ref: Ref, callScope: CallScope): Promise<FoundBalancer> {
  const observeTime = new Date();
  const named = await reader.balancers({ name: ref.key }, callScope);
  const checked = named.map((balancer) => ({ balancer, problem: problemOfTags(balancer, ref) }));
  const own = checked.filter(({ problem }) => problem === undefined).map(({ balancer }) => balancer);
  const problem = checked.find((each) => each.problem !== undefined)?.problem;
  return { own: own.toSorted((left, right) => (left.id < right.id ? -1 : 1)), problem, observeTime };
}

/** Waits until Octavia's current change is complete, because it accepts no others. @throws ProviderError if that change failed */
export async function settledBalancer({ reader }: Tools, id: string, context: ChangeContext): Promise<Balancer> {
  for (let waitMs = firstLookMs; ; waitMs = Math.min(waitMs * 2, longestLookMs)) {
    const balancer = await reader.balancer(id, context);
    const { provisioning_status: status } = balancer;
    if (status === "ACTIVE") return balancer;
    if (status === "ERROR") throw new ProviderError("NOT_READY", failedMessage(id));
    if (status === "PENDING_DELETE" || status === "DELETED") {
      throw new ProviderError("NOT_READY", `load balancer ${id} is being deleted; another one is created afterwards`);
    }
    context.reportProgress({ id, stage: `${status} at Octavia` });
    await pause(waitMs, undefined, { signal: context.signal });
  }
}

/** True: reported as a planned change. */
export function onlyPlanned(change: PlannedChange, context: ChangeContext): boolean {
  if (context.validateOnly) context.addPlannedChange(change);
  return context.validateOnly;
}

/** Carries steps out, one after the other, for Octavia takes one at a time. */
export async function carryOut(
  tools: Tools,
  balancerId: string,
  steps: readonly Step[],
  pools: ReadonlyMap<string, string>,
  context: ChangeContext,
): Promise<void> {
  const poolIds = new Map(pools);
  const carryOutOne = (step: Step) =>
    whenMutable(tools, balancerId, context, () => send(tools, step, poolIds, context));
  let waiting = steps;
  for (let [step] = waiting; step !== undefined; [step] = waiting) {
    waiting = waiting.slice(1);
    if (onlyPlanned(step.change, context)) continue;
    try {
      const answer = await carryOutOne(step);
      if (step.makesPool !== undefined) poolIds.set(step.makesPool, madePoolOf(answer).pool.id);
    } catch (error) {
      const unneeded = waiting.filter(({ isUnneeded = false }) => isUnneeded);
      if (!(error instanceof ProviderError) || error.reason !== "QUOTA_EXCEEDED" || unneeded.length === 0) throw error;
      // They make room; then it is tried once more.
      waiting = [...unneeded, step, ...waiting.filter((each) => !unneeded.includes(each))];
    }
  }
}

/** Octavia rejects a change while another one of the same load balancer is in progress, so wait for it. */
async function whenMutable<Answer>(
  tools: Tools,
  balancerId: string,
  context: ChangeContext,
  change: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    await settledBalancer(tools, balancerId, context);
    try {
      return await change();
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      // Not a temporary conflict: the load balancer accepts changes, but not this one.
      const { provisioning_status: status } = await tools.reader.balancer(balancerId, context);
      if (status === "ACTIVE") throw error;
    }
  }
}

async function send(
  { openStack }: Tools,
  step: Step,
  poolIds: ReadonlyMap<string, string>,
  context: ChangeContext,
): Promise<unknown> {
  const { path, body } = withPool(step, poolIds);
  const { method } = step;
  if (method !== "DELETE") return openStack.send(context, service, method, `/lbaas${path}`, body ?? {}, anything);
  try {
    await openStack.delete(context, service, `/lbaas${path}`);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
  return undefined;
}

function madePoolOf(answer: unknown): { readonly pool: { readonly id: string } } {
  return answerOf(madePool, answer, `${service} POST /lbaas/pools`);
}

/** Makes a load balancer without parts. */
export async function createBalancer(
  { openStack }: Tools,
  fields: Readonly<Record<string, unknown>>,
  context: ChangeContext,
): Promise<Balancer> {
  const body = { loadbalancer: fields };
  const answer = await openStack.send(context, service, "POST", "/lbaas/loadbalancers", body, balancerAnswerSchema);
  return answer.loadbalancer;
}

/** Writes the tags, if they are others. */
export async function writeTags(
  tools: Tools,
  balancer: Balancer,
  tags: readonly string[],
  context: ChangeContext,
): Promise<void> {
  if (JSON.stringify(balancer.tags.toSorted()) === JSON.stringify(tags.toSorted())) return;
  const change = {
    action: "update",
    resourceType: "load balancer",
    resourceId: balancer.name,
    summary: "tags",
  } as const;
  if (onlyPlanned(change, context)) return;
  const body = { loadbalancer: { tags } };
  const path = `/lbaas/loadbalancers/${balancer.id}`;
  await whenMutable(tools, balancer.id, context, () =>
    tools.openStack.send(context, service, "PUT", path, body, balancerAnswerSchema),
  );
}
