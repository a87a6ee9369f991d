import {
  inParallel,
  ProviderError,
  type Route,
  type RouteBatchResult,
  type RouteChangeContext,
  type RouteDeleteResult,
  type RouteHandlers,
  type RouteListContext,
  type DesiredRoute,
} from "@cloudwire/provider-sdk";
import { PodCidrs } from "@cloudwire/provider-sdk/addresses";
import type { AwsCalls } from "../cloud/aws.ts";
import { isCode, toProviderError } from "../cloud/errors.ts";
import type { MachineReader } from "../instances/machine-reader.ts";
import { formatId, parseId } from "../instances/provider-id.ts";
import { isTerminated, type KnownMachine } from "../instances/to-instance.ts";
import { canonicalCidr, guestTag, ownerWords, planRoute, type PodRoute, podRoutes, type RouteStep } from "./plan.ts";
import { ownerOf, type ReadTable, RouteTable } from "./route-table.ts";

export interface RouteSettings {
  readonly routeTableId: string;
  readonly podCidrs: readonly string[];
  /** Routes that the table takes: a quota of the account. */
  readonly quota: number;
}

/** AWS has one request for each route; so many end within the time of a call. */
const maxBatchSize = 100;

/** Maximum concurrent requests for routes. */
const concurrency = 5;

export function routeHandlers(aws: AwsCalls, machines: MachineReader, settings: RouteSettings): RouteHandlers {
  const routes = new Routes(aws, machines, settings);
  return {
    features: {
      maxBatchSize,
      blackhole: true,
      validateOnly: true,
      ipFamilies: new PodCidrs(settings.podCidrs).families,
    },
    list: (context) => routes.list(context),
    ensureMany: async (wanted, context) => routes.ensure(wanted, context),
    deleteMany: async (wanted, context) => routes.delete(wanted, context),
  };
}

class Routes {
  readonly #table: RouteTable;
  readonly #machines: MachineReader;
  readonly #podCidrs: PodCidrs;
  readonly #quota: number;

  constructor(aws: AwsCalls, machines: MachineReader, { routeTableId, podCidrs, quota }: RouteSettings) {
    this.#table = new RouteTable(aws, routeTableId);
    this.#machines = machines;
    this.#podCidrs = new PodCidrs(podCidrs);
    this.#quota = quota;
  }

  async *list(context: RouteListContext): AsyncGenerator<Route> {
    const own = this.#present(await this.#read(context)).filter((route) => isOwn(route, context));
    const found = await this.#find(
      own.flatMap(({ instanceId }) => instanceId ?? []),
      context,
    );
    for (const route of own) yield toRoute(route, found);
  }

  async ensure(wanted: readonly DesiredRoute[], context: RouteChangeContext): Promise<readonly RouteBatchResult[]> {
    const table = await this.#read(context);
    const present = new Map(this.#present(table).map((route) => [route.cidr, route]));
    const found = await this.#find(
      wanted.flatMap(({ targetId = "" }) => instanceIdOf(targetId)),
      context,
    );
    const targets = new Set(found.keys());
    const { id } = context.cluster;
    const steps = wanted.map((route) => planRoute(route, present, this.#podCidrs, targets, id));
    const changes = steps.some(({ kind }) => kind === "create" || kind === "replace");
    if (changes && ownerOf(table) === undefined && !context.validateOnly)
      await this.#table.claim(context.cluster, context);
    const hostId = ownerOf(table) ?? id;
    return inParallel(steps, concurrency, (step) => this.#carryOut(step, { found, table, hostId }, context));
  }

  async delete(wanted: readonly DesiredRoute[], context: RouteChangeContext): Promise<readonly RouteDeleteResult[]> {
    const table = await this.#read(context);
    const present = new Map(this.#present(table).map((route) => [route.cidr, route]));
    const isHost = ownerOf(table) === context.cluster.id;
    const answers = await inParallel(wanted, concurrency, async ({ destinationCidr, id }) => {
      const cidr = canonicalCidr(destinationCidr);
      const route = present.get(cidr);
      // Another route has replaced the listed one, which therefore no longer exists.
      if (route === undefined || (id !== undefined && id !== routeId(route))) return undefined;
      if (!isOwn(route, context)) return this.#notOurs(route);
      if (context.validateOnly) {
        context.addPlannedChange({ action: "delete", resourceType: "route", resourceId: cidr });
        return undefined;
      }
      return settled(async () => {
        await this.#table.delete(cidr, context);
        if (!isHost) await this.#table.mark(cidr, undefined, context);
      });
    });
    const gone = new Set(
      wanted.flatMap(({ destinationCidr }, index) =>
        answers[index] === undefined ? [canonicalCidr(destinationCidr)] : [],
      ),
    );
    const left = [...present.values()].filter((route) => isOwn(route, context) && !gone.has(route.cidr));
    if (isHost && left.length === 0 && !context.validateOnly) await this.#table.release(context.cluster, context);
    return answers;
  }

  async #carryOut(
    step: RouteStep,
    { found, table, hostId }: Situation,
    context: RouteChangeContext,
  ): Promise<RouteBatchResult> {
    if (step.kind === "refuse") return step.problem;
    const { cidr, instanceId, kind } = step;
    const { id } = context.cluster;
    const route: PodRoute = { cidr, instanceId, isBlackhole: false, isForeign: false, owner: id };
    if (kind !== "keep" && context.validateOnly) {
      context.addPlannedChange({
        action: kind,
        resourceType: "route",
        resourceId: cidr,
        summary: `${cidr} to ${instanceId}`,
      });
      return toRoute(route, found);
    }
    const problem = await settled(async () => {
      if (found.get(instanceId)?.SourceDestCheck !== false && !context.validateOnly) {
        await this.#table.letForward(instanceId, context);
      }
      if (kind === "keep") return;
      const mark = hostId === id ? undefined : id;
      if (table.tags[guestTag(cidr)] !== mark) await this.#table.mark(cidr, mark, context);
      await this.#table.write(kind, cidr, instanceId, context);
    });
    return problem ?? toRoute(route, found);
  }

  async #read(context: RouteListContext | RouteChangeContext): Promise<ReadTable> {
    const table = await this.#table.read(context);
    // Routes that the table brings itself, and those of gateways that propagate, do not count.
    const used = (table.details.Routes ?? []).filter(({ Origin }) => Origin === "CreateRoute").length;
    context.reportQuota({ limit: this.#quota, used });
    return table;
  }

  #present({ details, tags }: ReadTable): readonly PodRoute[] {
    return podRoutes(details.Routes ?? [], this.#podCidrs, tags);
  }

  async #find(ids: readonly string[], context: RouteListContext): Promise<ReadonlyMap<string, KnownMachine>> {
    const found = await this.#machines.matching("instance-id", ids, [], context);
    return new Map(found.filter((machine) => !isTerminated(machine)).map((machine) => [machine.InstanceId, machine]));
  }

  #notOurs(route: PodRoute): ProviderError {
    const message = `the route to ${route.cidr} in table ${this.#table.id} is ${ownerWords(route)}`;
    const metadata = { owner_cluster_id: route.owner ?? "", id: routeId(route) };
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata });
  }
}

/** The context of a write of a route. */
interface Situation {
  readonly found: ReadonlyMap<string, KnownMachine>;
  readonly table: ReadTable;
  /** The cluster that owns the table. */
  readonly hostId: string;
}

function isOwn({ owner, isForeign }: PodRoute, { cluster }: Pick<RouteListContext, "cluster">): boolean {
  return !isForeign && owner === cluster.id;
}

function instanceIdOf(targetId: string): readonly string[] {
  const parsed = parseId(targetId);
  return parsed.kind === "instance" ? [parsed.instanceId] : [];
}

function routeId({ cidr }: PodRoute): string {
  return cidr;
}

function toRoute(route: PodRoute, found: ReadonlyMap<string, KnownMachine>): Route {
  const machine = route.instanceId === undefined ? undefined : found.get(route.instanceId);
  return {
    id: routeId(route),
    destinationCidr: route.cidr,
    ...(machine ? { targetId: formatId(machine.zone, machine.InstanceId) } : {}),
    // AWS reports this for deleted instances, but with a delay; until then, their absence shows it.
    blackhole: route.isBlackhole || machine === undefined,
  };
}

/** An item's error is that item's alone. */
async function settled(act: () => Promise<void>): Promise<ProviderError | Error | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (isCode(error, "InvalidInstanceID.NotFound")) {
      return new ProviderError("ROUTE_TARGET_NOT_FOUND", "the instance was deleted in the meantime", { cause: error });
    }
    const known = toProviderError(error);
    if (known instanceof Error) return known;
    throw error;
  }
}
