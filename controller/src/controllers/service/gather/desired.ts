import type { Node } from "../../../api/node.ts";
import { type Service, deletionProtection } from "../../../api/service.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import { type PreparedTarget, nodeSelection, prepareTarget, targetNode } from "../../../provider/convert/node.ts";
import {
  declaredAnnotations,
  loadBalancerSpec,
  serviceRef,
  specFingerprint,
} from "../../../provider/convert/service.ts";
import type { LoadBalancerRef, NodeSelection } from "../../../provider/model/client.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { ProviderSet } from "../../../provider/model/provider.ts";
import type { PreviousToDelete, DesiredLoadBalancer } from "../plan/types.ts";
import { isTarget } from "../predicates.ts";
import type { Acknowledged, PreviousLoadBalancer } from "../record/record.ts";
import { type GatherDependencies, type Owner, serverNamed } from "./owner.ts";

type Dependencies = Pick<GatherDependencies, "providers" | "targets" | "settings">;

export interface DesiredWithSpec extends DesiredLoadBalancer {
  readonly spec: NonNullable<DesiredLoadBalancer["spec"]>;
}

export function previousToDelete(
  deps: Dependencies,
  service: Service,
  previous: PreviousLoadBalancer,
): PreviousToDelete {
  const owner = serverNamed(deps, previous.provider);
  if (owner?.loadBalancers.deletionProtection !== true || deletionProtection(service) !== false) return previous;
  const desired = desiredOf(deps, service, owner, undefined);
  return { ...previous, unprotected: withoutProtection(desired, desired.spec) };
}

export function withoutProtection(desired: DesiredLoadBalancer, asked: DesiredWithSpec["spec"]): DesiredWithSpec {
  const spec = { ...asked, deletionProtection: false };
  return { ...desired, spec, specFingerprint: specFingerprint(spec) };
}

/** @param requested by this process before */
export function desiredOf(
  { targets, settings }: Dependencies,
  service: Service,
  { provider, info, loadBalancers }: Owner,
  requested: Acknowledged["spec"],
): DesiredWithSpec {
  const { annotationPrefixes } = info;
  const asked = loadBalancerSpec(service, { annotationPrefixes, loadBalancers }, settings);
  // An unset field would not remove a protection that this process has requested.
  const isLifted = asked.deletionProtection === undefined && requested?.deletionProtection !== undefined;
  const spec = isLifted ? { ...asked, deletionProtection: false } : asked;
  return { spec, specFingerprint: specFingerprint(spec), nodes: targets.of(provider.name, info) };
}

/** The IDs of earlier responses are hints. */
export function loadBalancerRef(
  service: Service,
  info: ProviderInfo | undefined,
  loadBalancerId: string | undefined,
  operationId: string | undefined,
): LoadBalancerRef {
  return {
    service: serviceRef(service),
    class: service.spec.loadBalancerClass,
    annotations: declaredAnnotations(service, info?.annotationPrefixes ?? []),
    ...(operationId === undefined || operationId === "" ? {} : { operationId }),
    ...(loadBalancerId === undefined || loadBalancerId === "" ? {} : { loadBalancerId }),
  };
}

interface TargetsDependencies {
  readonly nodes: Lister<Node>;
  readonly providers: Pick<ProviderSet, "providers" | "ownerOfNode">;
}

interface Cached {
  readonly info: ProviderInfo;
  /** Of all providers: the owner of a Node depends on it. */
  readonly declared: readonly (ProviderInfo | undefined)[];
  readonly revision: number;
  readonly selection: NodeSelection;
  readonly prepared: Prepared;
}

/** The informer replaces changed objects, so that an entry is valid as long as its Node exists. */
type Prepared = WeakMap<Node, PreparedTarget>;

/**
 * The nodes that load balancers of a provider forward to: all of its own, the same for every Service. Computed once for each batch of node
 * changes, from cached parts.
 */
export class Targets {
  readonly #deps: TargetsDependencies;
  readonly #cache = new Map<string, Cached>();
  #revision = 0;

  constructor(dependencies: TargetsDependencies) {
    this.#deps = dependencies;
  }

  changed(): void {
    this.#revision++;
  }

  of(provider: string, info: ProviderInfo): NodeSelection {
    const cached = this.#cache.get(provider);
    const isSame = cached?.info === info;
    const declared = this.#deps.providers.providers.map((one) => one.info);
    const isCurrent = isSame && cached.revision === this.#revision && isEqual(cached.declared, declared);
    if (isCurrent) return cached.selection;
    // The target of a node depends on what its provider declared.
    const prepared: Prepared = isSame ? cached.prepared : new WeakMap();
    const selection = nodeSelection(this.#targets(provider, info, prepared));
    this.#cache.set(provider, { info, declared, revision: this.#revision, selection, prepared });
    return selection;
  }

  #targets(provider: string, info: ProviderInfo, prepared: Prepared): readonly PreparedTarget[] {
    const { nodes, providers } = this.#deps;
    return [...nodes.list()].flatMap((node) => {
      if (!isTarget(node)) return [];
      const owner = providers.ownerOfNode(node);
      if (owner.kind !== "owned" || owner.provider.name !== provider) return [];
      const known = prepared.get(node);
      if (known !== undefined) return [known];
      const target = targetNode(node, info);
      if (target === undefined) return [];
      const made = prepareTarget(target);
      prepared.set(node, made);
      return [made];
    });
  }
}

function isEqual<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
