import {
  absent,
  type InstanceResult,
  type InstanceBatchResult,
  type InstanceHandlers,
  type NodeRef,
  ProviderError,
  type ReadContext,
} from "@cloudwire/provider-sdk";
import type { Instance, InstanceLookup } from "../../api/instances.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { checkAccounted, freshnessProblem, missProblem } from "../evidence.ts";
import { listInstances } from "./list.ts";
import { watchInstances } from "./watch.ts";
import { type InstancePlace, parseId } from "./provider-id.ts";
import { toInstance } from "./to-instance.ts";

/** Maximum number of items in one look-up. */
const maxBatchSize = 1000;

/** How long the cloud's change feed reaches back. */
const feedRetentionMs = 900_000;

export function instanceHandlers(cloud: CloudAccess): InstanceHandlers {
  return {
    features: {
      maxBatchSize,
      podCidrs: true,
      // Look-ups are strongly consistent: an instance can be seen as soon as it is made.
      existenceConsistencyDelayMs: 0,
      list: { maxPageSize: 1000, consistentSnapshot: true },
      watch: { tokenRetentionMs: feedRetentionMs, expectedLatencyMs: 100 },
    },
    getMany: async (nodes, context) => getMany(cloud, nodes, context),
    list: (context) => listInstances(cloud, context),
    watch: (request, context) => watchInstances(cloud, request, context),
  };
}

/** One call of the cloud for all nodes, by id and by name. */
async function getMany(
  cloud: CloudAccess,
  nodes: readonly NodeRef[],
  context: ReadContext,
): Promise<readonly InstanceBatchResult[]> {
  const wanted = nodes.map((node) => ({ node, place: node.id === undefined ? undefined : parseId(node.id) }));
  const ids = wanted.flatMap(({ place }) => (place && !(place instanceof Error) ? [place.instanceId] : []));
  const names = wanted.flatMap(({ node, place }) => (place ? [] : [node.name]));
  if (ids.length + names.length === 0)
    return wanted.map(({ place }) => place).filter((place) => place instanceof Error);
  const lookup = await cloud.ask(context, async (client, signal) =>
    client.lookupInstances({ ids: [...new Set(ids)], names: [...new Set(names)], consistent: true }, signal),
  );
  cloud.requireOwn(lookup);
  const found: Found = {
    lookup,
    byId: new Map(lookup.items.map((instance) => [instance.id, instance])),
    byName: Map.groupBy(lookup.items, ({ name }) => name),
  };
  const stale = freshnessProblem(lookup, context.maxDataAgeMs);
  return wanted.map(({ node, place }): InstanceBatchResult => {
    if (place instanceof Error) return place;
    return place ? answerById(found, place, stale) : answerByName(found, node, stale);
  });
}

interface Found {
  readonly lookup: InstanceLookup;
  readonly byId: ReadonlyMap<string, Instance>;
  readonly byName: ReadonlyMap<string, readonly Instance[]>;
}

function answerById(
  { lookup, byId }: Found,
  { zone, instanceId }: InstancePlace,
  stale: ProviderError | undefined,
): InstanceBatchResult {
  const instance = byId.get(instanceId);
  if (!instance) return missAnswer(lookup, "ids", instanceId);
  if (instance.zone !== zone) {
    const message = `instance ${instanceId} is in zone ${instance.zone}, the provider ID says ${zone}`;
    return new ProviderError("PROVIDER_ID_MALFORMED", message);
  }
  return answerFor(lookup, instance, stale);
}

function answerByName(
  { lookup, byName }: Found,
  { name, createTime }: NodeRef,
  stale: ProviderError | undefined,
): InstanceBatchResult {
  const all = byName.get(name) ?? [];
  const alive = all.filter(({ state }) => state !== "terminated");
  if (alive.length > 1) {
    const matches = alive.map(({ id }) => id).join(",");
    return new ProviderError("AMBIGUOUS_NAME", `${alive.length} instances have the name ${name}: ${matches}`, {
      metadata: { matches },
    });
  }
  const instance = alive[0] ?? all.find((gone) => mayHaveRun(gone, createTime));
  if (instance) return answerFor(lookup, instance, stale);
  if (all.length === 0) return missAnswer(lookup, "names", name);
  return absent("LOOKUP_MISS", { observeTime: new Date(lookup.observedAt), stronglyConsistent: true });
}

/** An instance that was terminated before the Node existed only had the same name. */
function mayHaveRun({ terminatedAt }: Instance, nodeCreated: Date | undefined): boolean {
  if (nodeCreated === undefined) return true;
  return terminatedAt !== undefined && new Date(terminatedAt) >= nodeCreated;
}

/** A tombstone is the cloud's own word and stays true however old it is; everything else has to be fresh. */
function answerFor(lookup: InstanceLookup, instance: Instance, stale: ProviderError | undefined): InstanceBatchResult {
  const observeTime = new Date(lookup.observedAt);
  if (instance.state === "terminated") {
    return absent("TERMINATED", { observeTime, stronglyConsistent: lookup.consistency === "strong" });
  }
  return stale ?? { ...toInstance(instance), readTime: observeTime };
}

/** A miss is an absence only on evidence: the cloud itself has to name what is missing, from a strongly consistent read. */
function missAnswer(lookup: InstanceLookup, by: "ids" | "names", wanted: string): InstanceResult | ProviderError {
  const problem = missProblem(lookup) ?? checkAccounted(lookup.missing?.[by] ?? [], wanted);
  return problem ?? absent("LOOKUP_MISS", { observeTime: new Date(lookup.observedAt), stronglyConsistent: true });
}
