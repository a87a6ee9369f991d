import { currentWork, doSharedWork, type Work } from "../../observe/work.ts";
import type { ChangeOptions, ProviderChanges } from "../../provider/model/client.ts";
import { asProviderError } from "../../provider/model/errors.ts";
import type { ChangeableProvider } from "../../provider/model/provider.ts";
import type { Route, RouteChanges, RouteOutcome, RouteQuota } from "../../provider/model/route.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import { type KnownRoute, routeKey, type RouteTable } from "./route-table.ts";

export interface RouteWriterDependencies {
  readonly clock: Clock;
  /** How long a batch waits for more changes. */
  readonly windowMs: number;
  readonly onQuota: (provider: string, quota: RouteQuota | undefined) => void;
  /** Routes were removed, so that room and CIDRs are free. */
  readonly onRemoved: (provider: string) => void;
}

export interface WriteTarget {
  readonly provider: ChangeableProvider;
  readonly table: RouteTable;
  /** Cancels the call. All reconciles of a controller share it, so that a batch uses that of its first change. */
  readonly signal: AbortSignal;
}

interface Change {
  readonly target: WriteTarget;
  readonly route: Route;
  readonly work: Work | undefined;
  readonly outcome: PromiseWithResolvers<RouteOutcome>;
}

interface Deletion extends Change {
  readonly known: KnownRoute;
  /** One for each caller. */
  readonly isWanted: (() => boolean)[];
}

/** Changes that wait for the next call to one provider. */
interface ProviderQueue {
  readonly deletions: Map<string, Deletion>;
  readonly creations: Change[];
  isBusy: boolean;
}

/**
 * Batches the changes of many Nodes. Each provider gets one call at a time; changes in the meantime go with the next call. Deletions go
 * first, so that their room and CIDRs are free.
 */
export class RouteWriter {
  readonly #deps: RouteWriterDependencies;
  readonly #changes = new Map<string, ProviderQueue>();

  constructor(dependencies: RouteWriterDependencies) {
    this.#deps = dependencies;
  }

  /** Never rejects. */
  create(target: WriteTarget, route: Route): Promise<RouteOutcome> {
    const changes = this.#changesOf(target);
    const change = { target, route, work: currentWork(), outcome: Promise.withResolvers<RouteOutcome>() };
    changes.creations.push(change);
    this.#schedule(changes);
    return change.outcome.promise;
  }

  /**
   * Never rejects. A route that the table no longer has, or that has another target, counts as removed.
   * @param isWanted called before the deletion: a route that all callers want again is kept. @default never
   */
  delete(target: WriteTarget, known: KnownRoute, isWanted: () => boolean = () => false): Promise<RouteOutcome> {
    const changes = this.#changesOf(target);
    const key = routeKey(known);
    const same = changes.deletions.get(key);
    if (same !== undefined) {
      same.isWanted.push(isWanted);
      return same.outcome.promise;
    }
    const outcome = Promise.withResolvers<RouteOutcome>();
    const { route } = known;
    changes.deletions.set(key, { target, route, known, isWanted: [isWanted], work: currentWork(), outcome });
    this.#schedule(changes);
    return outcome.promise;
  }

  #changesOf({ provider }: WriteTarget): ProviderQueue {
    const changes = this.#changes.get(provider.name) ?? { deletions: new Map(), creations: [], isBusy: false };
    this.#changes.set(provider.name, changes);
    return changes;
  }

  #schedule(changes: ProviderQueue): void {
    if (changes.isBusy) return;
    changes.isBusy = true;
    this.#deps.clock.schedule(this.#deps.windowMs, () => void this.#work(changes));
  }

  async #work(changes: ProviderQueue): Promise<void> {
    while (changes.deletions.size + changes.creations.length > 0) {
      const deletions = [...changes.deletions.values()];
      changes.deletions.clear();
      const creations = changes.creations.splice(0);
      await this.#delete(deletions.filter((deletion) => !settleIfUnneeded(deletion)));
      await this.#send(
        creations,
        "node routes",
        (client, routes, options) => client.ensureRoutes(routes, options),
        ({ target, route }, created) => recordCreated(target.table, route, created),
      );
    }
    changes.isBusy = false;
  }

  async #delete(deletions: readonly Deletion[]): Promise<void> {
    const removed = await this.#send(
      deletions,
      "stale routes",
      (client, routes, options) => client.deleteRoutes(routes, options),
      ({ target, known }) => target.table.remove(known),
    );
    const [first] = deletions;
    if (first !== undefined && removed > 0) this.#deps.onRemoved(first.target.provider.name);
  }

  /** Sends one batch and settles its changes. If the call fails, all fail. Returns how many were done. */
  async #send<C extends Change>(
    changes: readonly C[],
    trigger: string,
    call: (client: ProviderChanges, routes: readonly Route[], options: ChangeOptions) => Promise<RouteChanges>,
    onDone: (change: C, route: Route) => void,
  ): Promise<number> {
    const [first] = changes;
    if (first === undefined) return 0;
    const { provider, signal } = first.target;
    const routes = changes.map(({ route }) => route);
    const works = changes.map(({ work }) => work);
    const sent = doSharedWork(works, () => call(provider.client, routes, { signal, trigger }));
    const response = await sent.catch((error: unknown) => asProviderError(error));
    if (!(response instanceof Error)) this.#deps.onQuota(provider.name, response.quota);
    let done = 0;
    for (const [index, change] of changes.entries()) {
      const outcome = outcomeOf(response, index);
      if (outcome.kind === "done") {
        onDone(change, outcome.route);
        done++;
      }
      change.outcome.resolve(outcome);
    }
    return done;
  }
}

function outcomeOf(response: RouteChanges | ReturnType<typeof asProviderError>, index: number): RouteOutcome {
  if (response instanceof Error) return { kind: "failed", error: response };
  const tooShort = (): RouteOutcome => ({
    kind: "failed",
    error: asProviderError(new Error("the response is too short")),
  });
  return response.outcomes[index] ?? tooShort();
}

function settleIfUnneeded({ target, known, isWanted, outcome }: Deletion): boolean {
  if (target.table.holds(known) && !isWanted.every((isStill) => isStill())) return false;
  outcome.resolve({ kind: "done", route: known.route });
  return true;
}

function recordCreated(table: RouteTable, desired: Route, created: Route): void {
  const cidr = parseCidr(desired.destinationCidr);
  if (cidr === undefined) return;
  const target = created.targetProviderId === "" ? desired.targetProviderId : created.targetProviderId;
  const route = { ...created, targetProviderId: target };
  table.put({ route, cidr, nodeName: desired.targetNodeName, madeFor: desired.targetProviderId });
}
