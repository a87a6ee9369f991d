import type { ControllerStatus, Explanation, Fact } from "@cloudwire/operator-api";
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
import { iso } from "../util/text.ts";
import type { HistoryStores } from "./history/stores.ts";
import type { EvaluatedObject, ObjectEvaluator, ObjectEvaluatorDependencies } from "./evaluate/object-evaluator.ts";

export interface ExplainerDependencies extends Pick<ObjectEvaluatorDependencies, "controllers" | "replica" | "clock"> {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly evaluator: ObjectEvaluator;
  readonly history: Pick<HistoryStores, "timeline" | "journal">;
}

/** Per object. */
const CALLS = 12;

/** History and pending work of a deleted object. */
interface Past {
  readonly work: readonly ControllerStatus[];
  readonly calls: readonly ObjectCall[];
  readonly remembered: readonly StoredEntry[];
}

/** Without work on the key. */
const IDLE: ReadonlySet<ControllerStatus["queue"]["kind"]> = new Set(["idle", "notRunning"]);

const UNMANAGED = { state: "unmanaged", summary: "" } as const;

interface Found extends EvaluatedObject {
  readonly facts: readonly Fact[];
}

/** Explains one object from memory, without requests. */
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
    const evaluation =
      found?.evaluation ?? this.#missing({ ref, kind, name }, { work: controllers, calls, remembered });
    const { state, summary, causes, desired } = evaluation;
    // A provider has no key to retry: its connection is retried all the time.
    const isRetried = state !== "ok" && state !== "unmanaged" && kind !== "provider";
    const nextRetry = isRetried ? nextRetryOf(controllers) : undefined;
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
    if (kind === "provider") {
      const found = evaluator.provider(name);
      return found && { ...found, facts: found.snapshot === undefined ? [] : factsOfProvider(found.snapshot) };
    }
    if (kind === "service") {
      const service = services.lister.get(name);
      return service && { ...evaluator.service(service), facts: factsOfService(service) };
    }
    const node = nodes.lister.get(name);
    return node && { ...evaluator[kind](node), facts: kind === "node" ? factsOfNode(node) : factsOfRoute(node) };
  }

  /** For an object that is not in the cache. */
  #missing({ ref, kind, name }: ParsedObject, past: Past): Evaluation {
    const { nodes, services, evaluator } = this.#deps;
    // The controller connects to providers after its caches are synced.
    const isSynced =
      kind === "provider" ? evaluator.providerNames().length > 0 : (kind === "service" ? services : nodes).hasSynced();
    if (!isSynced) return evaluationOf([cause("CacheNotSynced")], UNMANAGED);
    if (isKnown(past)) return evaluationOf([cause("Deleted", lastHeard(ref, past.remembered))], UNMANAGED);
    const likely =
      kind === "provider"
        ? evaluator.providerNames()
        : likelyNames(name, kind === "service" ? namesOf(services) : namesOf(nodes));
    const hint = likely.length === 0 ? "" : `; did you mean ${likely.map((one) => `${kind}/${one}`).join(" or ")}?`;
    return evaluationOf([cause("NotFound", `${ref} does not exist${hint}`)], UNMANAGED);
  }

  #work({ kind, name }: ParsedObject, nowMs: number): readonly ControllerStatus[] {
    return workersOf(kind, name).flatMap((worker) => {
      const supervised = this.#supervised(worker.controller);
      const isOptional = worker.controller === NODE_IPAM_CONTROLLER || kind === "provider";
      return supervised === undefined && isOptional ? [] : [controllerStatus(worker, supervised, nowMs)];
    });
  }

  #supervised(controller: string): SupervisedController | undefined {
    return this.#deps.controllers().find(({ name }) => name === controller);
  }
}

/** The object existed, or has pending work. */
function isKnown({ work, calls, remembered }: Past): boolean {
  const hasWork = work.some(({ queue, last }) => last !== undefined || !IDLE.has(queue.kind));
  return hasWork || calls.length > 0 || remembered.length > 0;
}

function namesOf<T extends KubeObject>({ lister }: Informer<T>): readonly string[] {
  return [...lister.list()].map((object) => keyOf(object));
}
