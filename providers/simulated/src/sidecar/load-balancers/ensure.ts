import {
  type ChangeContext,
  type LoadBalancer as ProviderLoadBalancer,
  ProviderError,
  type WantedLoadBalancer,
} from "@cloudwire/provider-sdk";
import type { LoadBalancer, LoadBalancerChange } from "../../api/load-balancers.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { refusalCode } from "../errors.ts";
import { findById, nameProblem, operationOf } from "./find.ts";
import type { OwnLookUps } from "./own-look-ups.ts";
import { diagnose, toLoadBalancer } from "./to-load-balancer.ts";
import { replaceTargets, warnAboutIgnored } from "./update-nodes.ts";
import type { WantedTargets } from "./targets.ts";
import { patchFor, toWish, type Wish } from "./wish.ts";

/** Somebody else may change the same load balancer between reading and writing; so often it is read again. */
const maxAttempts = 3;

/** Makes the load balancer be as wished: one call if it is, two or three if not. */
export async function ensureLoadBalancer(
  cloud: CloudAccess,
  lookUps: OwnLookUps,
  wanted: WantedLoadBalancer,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  const wish = toWish(wanted);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ensureOnce(cloud, lookUps, wanted, wish, targets, context);
    } catch (error) {
      const problem = await raceProblem(cloud, wanted, context, error);
      if (problem || attempt === maxAttempts) throw problem ?? error;
    }
  }
}

/** Why trying again is no use; undefined: somebody else was faster, so that what is there now has to be looked at. */
async function raceProblem(
  cloud: CloudAccess,
  wanted: WantedLoadBalancer,
  context: ChangeContext,
  error: unknown,
): Promise<unknown> {
  const code = refusalCode(error);
  if (code === "RevisionMismatch" || code === "LoadBalancerNotFound") return undefined;
  return code === "NameInUse" ? nameProblem(cloud, wanted, context) : error;
}

async function ensureOnce(
  cloud: CloudAccess,
  lookUps: OwnLookUps,
  wanted: WantedLoadBalancer,
  wish: Wish,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  const own = await lookUps.find(wanted, context);
  const existing = wanted.adopt ? await findAdopted(cloud, wanted, wanted.adopt.loadBalancerId, own, context) : own;
  if (!existing) return create(cloud, wish, targets, context);
  checkChangeable(existing);
  warnAboutFixed(existing, wish, context);
  return change(cloud, existing, wish, targets, context);
}

async function findAdopted(
  cloud: CloudAccess,
  wanted: WantedLoadBalancer,
  id: string,
  own: LoadBalancer | undefined,
  context: ChangeContext,
): Promise<LoadBalancer> {
  if (own?.id === id) return own;
  const field = "adopt.load_balancer_id";
  if (own) {
    const message = `Service ${wanted.service.name} has load balancer ${own.id} already and cannot adopt ${id}`;
    throw new ProviderError("FIELD_INVALID", message, { field });
  }
  const existing = await findById(cloud, id, context);
  if (existing) return existing;
  throw new ProviderError("FIELD_INVALID", `there is no load balancer ${id} to adopt`, { field });
}

function checkChangeable(existing: LoadBalancer): void {
  if (existing.state === "deleting") {
    throw new ProviderError("NOT_READY", `load balancer ${existing.id} is still being deleted`, { retryAfterMs: 1000 });
  }
}

/** What a load balancer keeps for life: the user has to know that this part of the wish is not honoured. */
function warnAboutFixed(existing: LoadBalancer, wish: Wish, context: ChangeContext): void {
  if (wish.requestedAddress !== undefined && wish.requestedAddress !== existing.address) {
    const summary = `Load balancer ${existing.id} keeps its address ${existing.address}: make the Service anew for another`;
    context.diagnose({ reason: "AddressKept", summary, field: "spec.requested_ips[0]" });
  }
  if (wish.class !== existing.class) {
    const summary = `Load balancer ${existing.id} stays ${existing.class}: make the Service anew for ${wish.class}`;
    context.diagnose({ reason: "FlavourKept", summary, field: "spec.class" });
  }
}

async function create(
  cloud: CloudAccess,
  wish: Wish,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  if (context.validateOnly) {
    const ports = wish.listeners.map(({ port }) => port).join(", ");
    const summary = `${wish.class}, ports ${ports}, ${targets.ids.length} targets`;
    context.plan({ action: "create", resourceType: "load balancer", resourceId: wish.name, summary });
    return undefined;
  }
  const spec = { ...wish, targets: [...targets.ids], metadata: { ...wish.metadata, ...targets.metadata } };
  const made = await cloud.ask(context, async (client, signal) => client.createLoadBalancer(spec, signal));
  warnAboutIgnored(made, context);
  return answer(made, context);
}

async function change(
  cloud: CloudAccess,
  existing: LoadBalancer,
  wish: Wish,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer> {
  const patch = patchFor(existing, wish);
  if (patch && context.validateOnly) {
    const summary = `changes ${Object.keys(patch).join(", ")}`;
    context.plan({ action: "update", resourceType: "load balancer", resourceId: existing.id, summary });
  }
  const patched =
    patch && !context.validateOnly
      ? await cloud.ask(context, async (client, signal) =>
          client.patchLoadBalancer(existing.id, patch, signal, existing.revision),
        )
      : { loadBalancer: existing, ignoredTargets: [] };
  const replaced = await replaceTargets(cloud, patched.loadBalancer, targets, context);
  const operation = patched.operation ?? (await operationOf(cloud, replaced.loadBalancer, context));
  return answer({ ...replaced, ...(operation ? { operation } : {}) }, context);
}

function answer({ loadBalancer, operation }: LoadBalancerChange, context: ChangeContext): ProviderLoadBalancer {
  diagnose(loadBalancer, context);
  return toLoadBalancer(loadBalancer, operation);
}
