import type { DeletionCircuitBreaker, Replica } from "@cloudwire/operator-api";
import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
} from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { QuotaClass } from "../../provider/model/call-rate.ts";
import type { Service } from "../../api/service.ts";
import { isUninitialized } from "../../controllers/node/predicates.ts";
import { isReady } from "../../controllers/node-lifecycle/predicates.ts";
import { concernsAdded } from "../../controllers/service/predicates.ts";
import { type Held, circuitBreakersOf, evaluateNode } from "./node.ts";
import { controllerCause } from "../controller-status.ts";
import { heldCause, evaluateProvider, providerTroubles } from "./provider.ts";
import { evaluateRoute } from "./route.ts";
import { evaluateService } from "./service.ts";
import { type Evaluation, evaluationOf, type LastReconcile } from "./evaluation.ts";
import { cause, type KnownCause } from "../reasons/reasons.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { NodeOwner, ProviderSet } from "../../provider/model/provider.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { classesOf } from "../../provider/ownership/provider-set.ts";
import type { SupervisedController } from "../../runtime/supervised-controller.ts";
import type { Clock } from "../../util/clock.ts";

export interface ObjectEvaluatorDependencies {
  readonly nodes: Pick<Informer<Node>, "lister">;
  /** undefined before they are connected to. */
  readonly providers: () => ProviderSet | undefined;
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  readonly replica: () => Replica;
  readonly clock: Clock;
}

/** How an object stands. */
export interface EvaluatedObject {
  readonly evaluation: Evaluation;
  readonly createdMs: number | undefined;
  /** Whose it is; undefined: nobody's, or it cannot be told. */
  readonly snapshot: ProviderSnapshot | undefined;
}

/**
 * Gathers what explain's judges need to know of one object, and what is said of every object alike: a controller that is off, a replica that does not lead.
 * Explanations, lists and the status page say the same, for all of them ask here. Some microseconds.
 */
export class ObjectEvaluator {
  readonly #deps: ObjectEvaluatorDependencies;

  constructor(dependencies: ObjectEvaluatorDependencies) {
    this.#deps = dependencies;
  }

  node(node: Node): EvaluatedObject {
    const { name } = node.metadata;
    const controller = isUninitialized(node) ? CLOUD_NODE_CONTROLLER : CLOUD_NODE_LIFECYCLE_CONTROLLER;
    const isWanted = isUninitialized(node) || !isReady(node);
    const found = this.#owned(
      node,
      "instances",
      (providers) => providers.ownerOfNode(node),
      (owner, troubles) =>
        evaluateNode({
          node,
          owner,
          troubles,
          initialization: this.#last(CLOUD_NODE_CONTROLLER, name),
          lifecycle: this.#last(CLOUD_NODE_LIFECYCLE_CONTROLLER, name),
        }),
    );
    const worked = this.#worked(found, isWanted ? controller : undefined);
    // Whether the machine of one that is not Ready is said to be gone is known where it is asked about.
    return this.#known(worked, worked.evaluation.state === "ok" && isReady(node));
  }

  /** The routes of a Node. */
  route(node: Node): EvaluatedObject {
    const last = this.#last(NODE_ROUTE_CONTROLLER, node.metadata.name);
    const found = this.#owned(
      node,
      "routes",
      (providers) => providers.ownerOfNode(node),
      (owner, troubles) => evaluateRoute({ node, owner, troubles, last }),
    );
    return this.#known(this.#worked(found, NODE_ROUTE_CONTROLLER));
  }

  service(service: Service): EvaluatedObject {
    const { clock, providerSnapshots } = this.#deps;
    const found = this.#owned(
      service,
      "load_balancers",
      (providers) => providers.ownerOfService(service),
      (owner, troubles) =>
        evaluateService({
          service,
          owner,
          troubles,
          last: this.#last(SERVICE_LB_CONTROLLER, keyOf(service)),
          classes: providerSnapshots().flatMap(({ info }) => (info === undefined ? [] : classesOf(info))),
          nowMs: clock.nowMs(),
        }),
    );
    if (!concernsAdded(service)) return { ...found, snapshot: undefined };
    const isWanted = found.evaluation.state !== "unmanaged";
    return this.#known(this.#worked(found, isWanted ? SERVICE_LB_CONTROLLER : undefined));
  }

  /** undefined: there is none of that name. */
  provider(name: string): EvaluatedObject | undefined {
    const { providerSnapshots, clock } = this.#deps;
    const snapshot = providerSnapshots().find((one) => one.name === name);
    if (snapshot === undefined) return undefined;
    const evaluation = evaluateProvider(snapshot, clock.nowMs(), this.circuitBreakers().get(name));
    // Every replica is connected to every provider: what it knows of one is its own.
    return { evaluation, createdMs: undefined, snapshot };
  }

  /** By provider; those of none of whose Nodes' machines are said to be gone are not there. Looks at all Nodes, only when somebody asks. */
  circuitBreakers(): ReadonlyMap<string, DeletionCircuitBreaker> {
    return circuitBreakersOf(this.#held());
  }

  providerNames(): readonly string[] {
    return this.#deps.providerSnapshots().map(({ name }) => name);
  }

  /** What the judge says of an object once it is known whose it is. `quotaClass` is that of the calls made for it. */
  #owned(
    { metadata }: Node | Service,
    quotaClass: QuotaClass,
    ownerIn: (providers: ProviderSet) => NodeOwner,
    judge: (owner: NodeOwner, troubles: readonly KnownCause[]) => Evaluation,
  ): EvaluatedObject {
    const { providers: connected, providerSnapshots, clock } = this.#deps;
    const providers = connected();
    const createdMs = metadata.creationTimestampMs;
    if (providers === undefined) {
      const starting = evaluationOf([cause("CacheNotSynced")], { state: "waiting", summary: "" });
      return { evaluation: starting, createdMs, snapshot: undefined };
    }
    const owner = ownerIn(providers);
    const ownerName = owner.kind === "owned" ? owner.provider.name : undefined;
    const snapshot = providerSnapshots().find((one) => one.name === ownerName);
    const troubles = snapshot === undefined ? [] : providerTroubles(snapshot, clock.nowMs());
    const judged = judge(owner, troubles);
    const isWorkedOn = judged.state !== "ok" && judged.state !== "unmanaged";
    const held = isWorkedOn && snapshot !== undefined ? heldCause(snapshot, quotaClass) : undefined;
    return { evaluation: held === undefined ? judged : withCauses([], judged, [held]), createdMs, snapshot };
  }

  /** A controller that is off, or broken, is why nothing is done. */
  #worked(found: EvaluatedObject, controller: string | undefined): EvaluatedObject {
    const { state } = found.evaluation;
    if (controller === undefined || state === "ok" || this.#deps.controllers().length === 0) return found;
    const trouble = controllerCause(controller, this.#supervised(controller));
    return trouble === undefined ? found : { ...found, evaluation: withCauses([trouble], found.evaluation, []) };
  }

  *#held(): Iterable<Held> {
    const lifecycle = this.#supervised(CLOUD_NODE_LIFECYCLE_CONTROLLER)?.current;
    const providers = this.#deps.providers();
    if (lifecycle === undefined || providers === undefined) return;
    for (const node of this.#deps.nodes.lister.list()) {
      if (isReady(node)) continue;
      const why = lifecycle.last(node.metadata.name)?.why;
      const owner = why && providers.ownerOfNode(node);
      if (why !== undefined && owner?.kind === "owned") yield { provider: owner.provider.name, why };
    }
  }

  #known(found: EvaluatedObject, isWished = found.evaluation.state === "ok"): EvaluatedObject {
    const isKnown = isWished || found.evaluation.state === "unmanaged";
    return isKnown ? found : { ...found, evaluation: knownHere(found.evaluation, this.#deps.replica()) };
  }

  #last(controller: string, key: string): LastReconcile | undefined {
    return this.#supervised(controller)?.current?.last(key);
  }

  #supervised(controller: string): SupervisedController | undefined {
    return this.#deps.controllers().find(({ name }) => name === controller);
  }
}

/** What is not as wished, by a replica that does not know what is being done about it. */
function knownHere(judged: Evaluation, { isLeader, leaderIdentity }: Replica): Evaluation {
  if (isLeader) return judged;
  const who = leaderIdentity === undefined ? "" : `: ${leaderIdentity} does`;
  const message = `This replica does not lead${who}; it knows the object, and not what is being done about it`;
  return withCauses([], judged, [cause("NotLeader", message)]);
}

function withCauses(before: readonly KnownCause[], judged: Evaluation, after: readonly KnownCause[]): Evaluation {
  const { state, summary, causes, desired } = judged;
  return evaluationOf([...before, ...causes, ...after], { state, summary }, desired);
}
