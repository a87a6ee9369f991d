import type { ControllerStatus, Explanation, Fact, Replica } from "@cloudwire/operator-api";
import { NODE_IPAM_CONTROLLER } from "../api/controller-names.ts";
import { type KubeObject, keyOf } from "../api/meta.ts";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import { controllerStatus, nextRetryOf } from "./controller-status.ts";
import { factsOfNode, factsOfProvider, factsOfRoute, factsOfService, providerStatus } from "./facts.ts";
import { type Evaluation, evaluationOf } from "./evaluate/evaluation.ts";
import { type ParsedObject, likelyNames, workersOf } from "./objects.ts";
import { cause } from "./reasons/reasons.ts";
import { lastHeard, shownCall, shownTimeline } from "./history/recent.ts";
import type { Informer } from "../kube/cache/lister.ts";
import type { StoredEntry } from "./history/timeline.ts";
import type { ObjectCall } from "./history/call-journal.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import type { Clock } from "../util/clock.ts";
import { iso } from "../util/text.ts";
import type { HistoryStores } from "./history/stores.ts";
import type { EvaluatedObject, ObjectEvaluator } from "./evaluate/object-evaluator.ts";

export interface ExplainerDependencies {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly evaluator: ObjectEvaluator;
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  readonly history: Pick<HistoryStores, "timeline" | "journal">;
  readonly replica: () => Replica;
  readonly clock: Clock;
}

/** Calls of one object. */
const CALLS = 12;

/** What is left of an object that is gone. */
interface Past {
  readonly work: readonly ControllerStatus[];
  readonly calls: readonly ObjectCall[];
  readonly remembered: readonly StoredEntry[];
}

/** Where a key of nobody is. */
const IDLE: ReadonlySet<ControllerStatus["queue"]["kind"]> = new Set(["idle", "notRunning"]);

const UNMANAGED = { state: "unmanaged", summary: "" } as const;

/** What is said of an object that there is, besides what is remembered of it. */
interface Found extends EvaluatedObject {
  readonly facts: readonly Fact[];
}

/** Tells everything that this replica knows of one object. Reads what is in memory; nothing is asked of anybody. */
export class Explainer {
  readonly #deps: ExplainerDependencies;

  constructor(dependencies: ExplainerDependencies) {
    this.#deps = dependencies;
  }

  explain({ ref, kind, name }: ParsedObject): Explanation {
    const { clock, history, replica: replicaNow } = this.#deps;
    const nowMs = clock.nowMs();
    const replica = replicaNow();
    const found = this.#find({ ref, kind, name });
    const controllers = this.#work({ ref, kind, name }, nowMs);
    const remembered = history.timeline.of(ref);
    const calls = kind === "provider" ? history.journal.ofProvider(name, CALLS) : history.journal.of(kind, name, CALLS);
    const judged = found?.evaluation ?? this.#missing({ ref, kind, name }, { work: controllers, calls, remembered });
    const { state, summary, causes, desired } = judged;
    // Of a provider no key is tried: its connection is, every moment.
    const isTried = state !== "ok" && state !== "unmanaged" && kind !== "provider";
    const nextRetry = isTried ? nextRetryOf(controllers) : undefined;
    const { snapshot } = found ?? {};
    return {
      object: ref,
      kind,
      time: iso(nowMs),
      replica,
      exists: found !== undefined,
      state,
      summary,
      causes,
      ...(nextRetry === undefined ? {} : { nextRetry }),
      desired,
      facts: found?.facts ?? [],
      controllers,
      ...(snapshot === undefined ? {} : { provider: providerStatus(snapshot, nowMs) }),
      calls: calls.map(shownCall),
      timeline: shownTimeline(remembered, calls, found?.createdMs),
    };
  }

  #find({ kind, name }: ParsedObject): Found | undefined {
    const { nodes, services, evaluator } = this.#deps;
    switch (kind) {
      case "node": {
        const node = nodes.lister.get(name);
        return node && { ...evaluator.node(node), facts: factsOfNode(node) };
      }
      case "route": {
        const node = nodes.lister.get(name);
        return node && { ...evaluator.route(node), facts: factsOfRoute(node) };
      }
      case "service": {
        const service = services.lister.get(name);
        return service && { ...evaluator.service(service), facts: factsOfService(service) };
      }
      case "provider": {
        const found = evaluator.provider(name);
        return found && { ...found, facts: found.snapshot === undefined ? [] : factsOfProvider(found.snapshot) };
      }
      default:
        return kind satisfies never;
    }
  }

  /** Of what is not in the cache. */
  #missing({ ref, kind, name }: ParsedObject, past: Past): Evaluation {
    const { nodes, services, evaluator } = this.#deps;
    // Providers are connected to once the cluster has been read.
    const isRead =
      kind === "provider" ? evaluator.providerNames().length > 0 : (kind === "service" ? services : nodes).hasSynced();
    if (!isRead) return evaluationOf([cause("CacheNotSynced")], UNMANAGED);
    if (isKnown(past)) return evaluationOf([cause("Deleted", lastHeard(ref, past.remembered))], UNMANAGED);
    const likely =
      kind === "provider"
        ? evaluator.providerNames()
        : likelyNames(name, kind === "service" ? namesOf(services, keyOf) : namesOf(nodes, nameOf));
    const meant = likely.length === 0 ? "" : `; did you mean ${likely.map((one) => `${kind}/${one}`).join(" or ")}?`;
    return evaluationOf([cause("NotFound", `There is no ${ref}${meant}`)], UNMANAGED);
  }

  #work({ kind, name }: ParsedObject, nowMs: number): readonly ControllerStatus[] {
    return workersOf(kind, name).flatMap((worker) => {
      const supervised = this.#supervised(worker.controller);
      const isAside = worker.controller === NODE_IPAM_CONTROLLER || kind === "provider";
      return supervised === undefined && isAside ? [] : [controllerStatus(worker, supervised, nowMs)];
    });
  }

  #supervised(controller: string): SupervisedController | undefined {
    return this.#deps.controllers().find(({ name }) => name === controller);
  }
}

/** There was such an object, or there still is something to be done about it. */
function isKnown({ work, calls, remembered }: Past): boolean {
  const isWorked = work.some(({ queue, last }) => last !== undefined || !IDLE.has(queue.kind));
  return isWorked || calls.length > 0 || remembered.length > 0;
}

function namesOf<T extends KubeObject>({ lister }: Informer<T>, nameOf: (object: T) => string): Iterable<string> {
  return [...lister.list()].map(nameOf);
}

function nameOf({ metadata }: Node): string {
  return metadata.name;
}
