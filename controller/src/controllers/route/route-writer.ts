import { currentWork, doSharedWork, type Work } from "../../observe/work.ts";
import type { ChangeOptions } from "../../provider/model/client.ts";
import { asProviderError } from "../../provider/model/errors.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { Route, RouteChanges, RouteOutcome, RouteQuota } from "../../provider/model/route.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import { type KnownRoute, routeKey, type RouteTable } from "./route-table.ts";

export interface RouteWriterDependencies {
  readonly clock: Clock;
  /** Changes this soon after the first go with it. */
  readonly windowMs: number;
  readonly onQuota: (provider: string, quota: RouteQuota | undefined) => void;
  /** Routes were removed: there is room, and ranges are free. */
  readonly onRemoved: (provider: string) => void;
}

/** The provider that is to change its routes, and what is known of them. */
export interface WriteTarget {
  readonly provider: Provider;
  readonly table: RouteTable;
  /** Gives the call up. All reconciles of a controller have the same one: a batch takes that of its first wish. */
  readonly signal: AbortSignal;
}

interface Deletion {
  readonly target: WriteTarget;
  readonly known: KnownRoute;
  /** Of each who asked for it. */
  readonly isWanted: (() => boolean)[];
  readonly work: Work | undefined;
  readonly outcome: PromiseWithResolvers<RouteOutcome>;
}

interface Creation {
  readonly target: WriteTarget;
  readonly route: Route;
  readonly work: Work | undefined;
  readonly outcome: PromiseWithResolvers<RouteOutcome>;
}

/** What waits to be sent to one provider. */
interface ProviderChanges {
  readonly deletions: Map<string, Deletion>;
  readonly creations: Creation[];
  isBusy: boolean;
}

/**
 * Turns the wishes of many Nodes into few calls: route tables are changed one call at a time, and what is wished meanwhile goes with
 * the next one. Deletions of a batch go first, so that their room and ranges are free.
 */
export class RouteWriter {
  readonly #deps: RouteWriterDependencies;
  readonly #changes = new Map<string, ProviderChanges>();

  constructor(dependencies: RouteWriterDependencies) {
    this.#deps = dependencies;
  }

  /** Never rejects. */
  create(target: WriteTarget, route: Route): Promise<RouteOutcome> {
    const outcome = Promise.withResolvers<RouteOutcome>();
    const changes = this.#changesOf(target);
    changes.creations.push({ target, route, work: currentWork(), outcome });
    this.#wake(changes);
    return outcome.promise;
  }

  /**
   * Never rejects. A route that the table shows no more, or to another target, counts as removed.
   * @param isWanted asked when its turn has come: what is removed does not come back by itself. One that all who asked want by then stays. @default never
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
    changes.deletions.set(key, { target, known, isWanted: [isWanted], work: currentWork(), outcome });
    this.#wake(changes);
    return outcome.promise;
  }

  #changesOf({ provider }: WriteTarget): ProviderChanges {
    const changes = this.#changes.get(provider.name) ?? { deletions: new Map(), creations: [], isBusy: false };
    this.#changes.set(provider.name, changes);
    return changes;
  }

  #wake(changes: ProviderChanges): void {
    if (changes.isBusy) return;
    changes.isBusy = true;
    this.#deps.clock.schedule(this.#deps.windowMs, () => void this.#work(changes));
  }

  async #work(changes: ProviderChanges): Promise<void> {
    while (changes.deletions.size + changes.creations.length > 0) {
      const deletions = [...changes.deletions.values()];
      changes.deletions.clear();
      const creations = changes.creations.splice(0);
      await this.#delete(deletions);
      await this.#create(creations);
    }
    changes.isBusy = false;
  }

  async #delete(all: readonly Deletion[]): Promise<void> {
    const deletions = all.filter((deletion) => !settleIfNeedless(deletion));
    const [first] = deletions;
    if (first === undefined) return;
    const { provider } = first.target;
    const routes = deletions.map(({ known }) => known.route);
    const options = changeOptions(first.target, "stale routes");
    const works = deletions.map(({ work }) => work);
    const call = doSharedWork(works, () => provider.client.deleteRoutes(routes, options));
    const outcomes = await this.#outcomesOf(provider, call);
    let removed = 0;
    for (const [index, { target, known, outcome }] of deletions.entries()) {
      const answer = outcomes(index);
      if (answer.kind === "done") {
        target.table.remove(known);
        removed++;
      }
      outcome.resolve(answer);
    }
    if (removed > 0) this.#deps.onRemoved(provider.name);
  }

  async #create(creations: readonly Creation[]): Promise<void> {
    const [first] = creations;
    if (first === undefined) return;
    const { provider } = first.target;
    const routes = creations.map(({ route }) => route);
    const options = changeOptions(first.target, "node routes");
    const works = creations.map(({ work }) => work);
    const call = doSharedWork(works, () => provider.client.ensureRoutes(routes, options));
    const outcomes = await this.#outcomesOf(provider, call);
    for (const [index, { target, route, outcome }] of creations.entries()) {
      const answer = outcomes(index);
      if (answer.kind === "done") note(target.table, route, answer.route);
      outcome.resolve(answer);
    }
  }

  /** The outcome of each item; a call that failed is the failure of each. */
  async #outcomesOf({ name }: Provider, call: Promise<RouteChanges>): Promise<(index: number) => RouteOutcome> {
    const answered = await call.catch((error: unknown) => asProviderError(error));
    if (answered instanceof Error) return () => ({ kind: "failed", error: answered });
    this.#deps.onQuota(name, answered.quota);
    const tooShort: RouteOutcome = { kind: "failed", error: asProviderError(new Error("the answer is too short")) };
    return (index) => answered.outcomes[index] ?? tooShort;
  }
}

function changeOptions({ signal }: WriteTarget, trigger: string): ChangeOptions {
  return { signal, trigger };
}

function settleIfNeedless({ target, known, isWanted, outcome }: Deletion): boolean {
  if (target.table.holds(known) && !isWanted.every((isStill) => isStill())) return false;
  outcome.resolve({ kind: "done", route: known.route });
  return true;
}

function note(table: RouteTable, wished: Route, made: Route): void {
  const cidr = parseCidr(wished.destinationCidr);
  if (cidr === undefined) return;
  const target = made.targetProviderId === "" ? wished.targetProviderId : made.targetProviderId;
  const route = { ...made, targetProviderId: target };
  table.put({ route, cidr, nodeName: wished.targetNodeName, madeFor: wished.targetProviderId });
}
