import {
  type ChangeContext,
  type LoadBalancer as ProviderLoadBalancer,
  ProviderError,
  type DesiredLoadBalancer,
} from "@cloudwire/provider-sdk";
import type { LoadBalancer, LoadBalancerChange } from "../../api/load-balancers.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { refusalCode } from "../errors.ts";
import { findById, nameProblem, operationOf } from "./find.ts";
import type { OwnLookUps } from "./own-look-ups.ts";
import { diagnose, toLoadBalancer } from "./to-load-balancer.ts";
import { replaceTargets, unregistered } from "./update-nodes.ts";
import type { WantedTargets } from "./targets.ts";
import { patchFor, toDesiredSpec, type DesiredSpec } from "./desired-spec.ts";

/** Attempts when another client changes the load balancer between reading and writing. */
const maxAttempts = 3;

/** Reconciles the load balancer to its spec: one call if it is up to date, else two or three. */
export async function ensureLoadBalancer(
  cloud: CloudAccess,
  lookUps: OwnLookUps,
  wanted: DesiredLoadBalancer,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  const desired = toDesiredSpec(wanted);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ensureOnce(cloud, lookUps, wanted, desired, targets, context);
    } catch (error) {
      const problem = await raceProblem(cloud, wanted, context, error);
      if (problem || attempt === maxAttempts) throw problem ?? error;
    }
  }
}

/** A permanent error; undefined: another client was faster, so read the current state and retry. */
async function raceProblem(
  cloud: CloudAccess,
  wanted: DesiredLoadBalancer,
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
  wanted: DesiredLoadBalancer,
  desired: DesiredSpec,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  const own = await lookUps.find(wanted, context);
  const existing = wanted.adopt ? await findAdopted(cloud, wanted, wanted.adopt.loadBalancerId, own, context) : own;
  if (!existing) return create(cloud, desired, targets, context);
  checkChangeable(existing);
  warnAboutFixed(existing, desired, context);
  return change(cloud, existing, desired, targets, context);
}

async function findAdopted(
  cloud: CloudAccess,
  wanted: DesiredLoadBalancer,
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

/** Warns the user about changes of fields that cannot be changed. */
function warnAboutFixed(existing: LoadBalancer, desired: DesiredSpec, context: ChangeContext): void {
  if (desired.requestedAddress !== undefined && desired.requestedAddress !== existing.address) {
    const summary = `Load balancer ${existing.id} keeps its address ${existing.address}: recreate the Service to change it`;
    context.addDiagnostic({ reason: "AddressKept", summary, field: "spec.requested_ips[0]" });
  }
  if (desired.class !== existing.class) {
    const summary = `Load balancer ${existing.id} stays ${existing.class}: recreate the Service to get ${desired.class}`;
    context.addDiagnostic({ reason: "FlavorKept", summary, field: "spec.class" });
  }
}

async function create(
  cloud: CloudAccess,
  desired: DesiredSpec,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer | undefined> {
  if (context.validateOnly) {
    const ports = desired.listeners.map(({ port }) => port).join(", ");
    const summary = `${desired.class}, ports ${ports}, ${targets.ids.length} targets`;
    context.addPlannedChange({ action: "create", resourceType: "load balancer", resourceId: desired.name, summary });
    return undefined;
  }
  const spec = { ...desired, targets: [...targets.ids], metadata: { ...desired.metadata, ...targets.metadata } };
  const made = await cloud.ask(context, async (client, signal) => client.createLoadBalancer(spec, signal));
  return answer(made, targets, context);
}

async function change(
  cloud: CloudAccess,
  existing: LoadBalancer,
  desired: DesiredSpec,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer> {
  const patch = patchFor(existing, desired);
  if (patch && context.validateOnly) {
    const summary = `changes ${Object.keys(patch).join(", ")}`;
    context.addPlannedChange({ action: "update", resourceType: "load balancer", resourceId: existing.id, summary });
  }
  const patched =
    patch && !context.validateOnly
      ? await cloud.ask(context, async (client, signal) =>
          client.patchLoadBalancer(existing.id, patch, signal, existing.revision),
        )
      : { loadBalancer: existing, ignoredTargets: [] };
  const replaced = await replaceTargets(cloud, patched.loadBalancer, targets, context);
  const operation = patched.operation ?? (await operationOf(cloud, replaced.loadBalancer, context));
  return answer({ ...replaced, ...(operation ? { operation } : {}) }, targets, context);
}

function answer(change: LoadBalancerChange, targets: WantedTargets, context: ChangeContext): ProviderLoadBalancer {
  const { loadBalancer, operation } = change;
  diagnose(loadBalancer, context);
  return { ...toLoadBalancer(loadBalancer, operation), unregisteredNodes: unregistered(change, targets) };
}
