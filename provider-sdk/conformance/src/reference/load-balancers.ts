import { createHash } from "node:crypto";
import {
  absent,
  type ChangeContext,
  type IpFamily,
  type LoadBalancer,
  type LoadBalancerEvent,
  type LoadBalancerHandlers,
  type LoadBalancerRef,
  ProviderError,
  type DesiredLoadBalancer,
  type TargetNode,
  type UnregisteredNode,
} from "@cloudwire/provider-sdk";
import { ReferenceFeed } from "./feed.ts";

/** A load balancer, whose it is, and what the contract does not show of it. */
interface Held extends LoadBalancer {
  readonly cluster: string;
  readonly ips: readonly string[];
  readonly isProtected: boolean;
  /** Everything that a user can change, except the targets. */
  readonly facts: readonly unknown[];
}

/** An event, and whose watches show it. */
type Seen = LoadBalancerEvent & { readonly cluster: string };

const keyOf = ({ cluster, service }: Pick<LoadBalancerRef, "cluster" | "service">): string =>
  `${cluster.id}/${service.uid}`;

const isTargetOf = (isTarget: (id: string) => boolean) => (node: { readonly id?: string | undefined }) =>
  node.id !== undefined && isTarget(node.id);

/** Free addresses, a family each. */
const freeIps: Readonly<Record<IpFamily, (number: number) => string>> = {
  IPv4: (number) => `198.51.100.${(number % 250) + 1}`,
  IPv6: (number) => `2001:db8::${(number % 250) + 1}`,
};

const familyOf = (ip: string): IpFamily => (ip.includes(":") ? "IPv6" : "IPv4");

/** What a user can change, in few bytes. */
const digestOf = (facts: unknown): string => createHash("sha256").update(JSON.stringify(facts)).digest("hex");

const observedOf = (facts: readonly unknown[], targets: readonly { readonly providerId: string }[]): string =>
  digestOf([facts, targets.map(({ providerId }) => providerId).toSorted()]);

const unregistered = (nodes: readonly TargetNode[], isTarget: (node: TargetNode) => boolean): UnregisteredNode[] =>
  nodes
    .filter((node) => !isTarget(node))
    .map(({ name, providerId }) => ({ name, providerId, reason: "InstanceNotFound", message: "Create the instance." }));

/** Load balancers in memory. */
class Balancers {
  readonly #isTarget: (node: { readonly id?: string | undefined }) => boolean;
  readonly #held = new Map<string, Held>();
  readonly feed = new ReferenceFeed<Seen>();
  #addresses = 0;

  constructor(isTarget: (id: string) => boolean) {
    this.#isTarget = isTargetOf(isTarget);
  }

  get all(): readonly Held[] {
    return [...this.#held.values()];
  }

  find(ref: Pick<LoadBalancerRef, "cluster" | "service">): Held | undefined {
    return this.#held.get(keyOf(ref));
  }

  ensure(wanted: DesiredLoadBalancer, context: ChangeContext): Held | undefined {
    context.recordCloudCall({});
    const before = this.#before(wanted);
    const ips = this.#ips(wanted, before, context);
    const made = this.#made(wanted, before, ips);
    const same = before !== undefined && digestOf(before) === digestOf(made);
    if (context.validateOnly) {
      const action = before === undefined ? "create" : "update";
      if (!same) context.addPlannedChange({ action, resourceType: "load balancer", resourceId: made.id });
      return before;
    }
    if (!same) context.recordCloudCall({ mutation: true });
    if (before?.service !== undefined)
      this.#held.delete(keyOf({ cluster: { id: before.cluster }, service: before.service }));
    this.replace(wanted, made);
    return made;
  }

  replace(ref: LoadBalancerRef, made: Held): void {
    this.#held.set(keyOf(ref), made);
    this.feed.publish({ kind: "upsert", loadBalancer: made, cluster: made.cluster });
  }

  snapshot(cluster: string): readonly Seen[] {
    const own = this.all.filter((one) => one.cluster === cluster);
    return own.map((loadBalancer) => ({ kind: "upsert", loadBalancer, cluster }));
  }

  delete(ref: LoadBalancerRef, context: ChangeContext): void {
    context.recordCloudCall({});
    const before = this.find(ref);
    if (before === undefined) return;
    if (before.isProtected)
      throw new ProviderError("DELETION_PROTECTED", `load balancer ${before.id} is protected against deletion`);
    if (context.validateOnly)
      return context.addPlannedChange({ action: "delete", resourceType: "load balancer", resourceId: before.id });
    context.recordCloudCall({ mutation: true });
    this.#held.delete(keyOf(ref));
    const absence = absent("LOOKUP_MISS");
    this.feed.publish({ kind: "gone", service: ref.service, id: before.id, absence, cluster: ref.cluster.id });
  }

  #before(wanted: DesiredLoadBalancer): Held | undefined {
    const { adopt } = wanted;
    if (adopt === undefined) return this.find(wanted);
    const found = this.all.find(({ id }) => id === adopt.loadBalancerId);
    if (found !== undefined) return found;
    throw new ProviderError("FIELD_INVALID", `there is no load balancer ${adopt.loadBalancerId} to adopt`, {
      field: "adopt.load_balancer_id",
    });
  }

  /** An address a family; one that it has it keeps. */
  #ips(wanted: DesiredLoadBalancer, before: Held | undefined, context: ChangeContext): readonly string[] {
    return wanted.ipFamilies.map((family) => {
      const asked = wanted.requestedIps.find((ip) => familyOf(ip) === family);
      const kept = before?.ips.find((ip) => familyOf(ip) === family);
      if (kept !== undefined && asked !== undefined && asked !== kept)
        context.addDiagnostic({
          reason: "AddressKept",
          summary: `the address stays ${kept}`,
          field: "spec.requested_ips",
        });
      if (kept !== undefined) return kept;
      if (asked === undefined) return this.#free(family);
      if (this.#isUsed(asked))
        throw new ProviderError("ADDRESS_IN_USE", `${asked} belongs to another owner`, {
          metadata: { address: asked },
        });
      return asked;
    });
  }

  #free(family: IpFamily): string {
    for (;;) {
      const ip = freeIps[family](this.#addresses++);
      if (!this.#isUsed(ip)) return ip;
    }
  }

  #isUsed(ip: string): boolean {
    return this.all.some(({ ips }) => ips.includes(ip));
  }

  #made(wanted: DesiredLoadBalancer, before: Held | undefined, ips: readonly string[]): Held {
    const { service, specFingerprint, nodesFingerprint, sourceRanges, sessionAffinity, tags } = wanted;
    const targets = wanted.nodes.filter((node) => this.#isTarget(node));
    const unregisteredNodes = unregistered(wanted.nodes, this.#isTarget);
    const isProtected = wanted.deletionProtection ?? before?.isProtected ?? false;
    const ports = wanted.ports.map(({ port, protocol }) => ({ port, protocol }));
    const listening = ports.map(({ port, protocol }) => `${protocol}:${port}`).toSorted();
    const facts = [listening, ips, sourceRanges, sessionAffinity, isProtected, tags];
    return {
      facts,
      id: before?.id ?? `lb-${wanted.key}`,
      cluster: wanted.cluster.id,
      ips,
      isProtected,
      service,
      ingress: ips.map((ip) => ({ ip, ports })),
      specFingerprint,
      nodesFingerprint: unregisteredNodes.length === 0 ? nodesFingerprint : "",
      unregisteredNodes,
      observedFingerprint: observedOf(facts, targets),
      registeredNodes: targets.length,
      tags,
    };
  }
}

/** Load balancers in memory; a target is a machine that there is. What is not declared is refused by the SDK. */
export const referenceBalancers = (isTarget: (id: string) => boolean): LoadBalancerHandlers => {
  const balancers = new Balancers(isTarget);
  return {
    features: {
      validateOnly: true,
      classes: ["acme.example.com/standard"],
      nodeSets: { maxSets: 8 },
      watch: { expectedLatencyMs: 100 },
      protocols: ["TCP", "UDP"],
      mixedProtocols: true,
      ipFamilies: ["IPv4", "IPv6"],
      dualStack: true,
      sourceRanges: true,
      requestedIp: true,
      sessionAffinity: true,
      deletionProtection: true,
      adopt: true,
    },
    get: (ref, { recordCloudCall }) => {
      recordCloudCall({});
      return balancers.find(ref) ?? absent("LOOKUP_MISS");
    },
    ensure: (wanted, context) => balancers.ensure(wanted, context),
    delete: (ref, context) => balancers.delete(ref, context),
    updateNodes: (wanted, context) => {
      const before = balancers.find(wanted);
      context.recordCloudCall({});
      if (before === undefined) throw new ProviderError("LOAD_BALANCER_NOT_FOUND", "there is no load balancer here");
      const { nodes, nodesFingerprint } = wanted;
      const previousObservedFingerprint = before.observedFingerprint;
      if (nodesFingerprint === before.nodesFingerprint) return { ...before, previousObservedFingerprint };
      if (context.validateOnly) {
        context.addPlannedChange({ action: "update", resourceType: "targets", resourceId: before.id });
        return before;
      }
      context.recordCloudCall({ mutation: true });
      const targets = nodes.filter(isTargetOf(isTarget));
      const observedFingerprint = observedOf(before.facts, targets);
      const unregisteredNodes = unregistered(nodes, isTargetOf(isTarget));
      const known = unregisteredNodes.length === 0 ? nodesFingerprint : "";
      const registeredNodes = targets.length;
      const after = { ...before, nodesFingerprint: known, unregisteredNodes, registeredNodes, observedFingerprint };
      balancers.replace(wanted, after);
      return { ...after, previousObservedFingerprint };
    },
    watch: (request, { signal, cluster }) =>
      balancers.feed.watch({
        request,
        signal,
        snapshot: () => balancers.snapshot(cluster.id),
        isVisible: (event) => event.cluster === cluster.id,
      }),
    async *list({ cluster, recordCloudCall }) {
      recordCloudCall({});
      for (const one of balancers.all) if (one.cluster === cluster.id) yield one;
    },
  };
};
