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
import { type DelayedNode, circuitBreakersOf, evaluateNode } from "./node.ts";
import { controllerCause } from "../controller-status.ts";
import { throttledCause, evaluateProvider, providerTroubles } from "./provider.ts";
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

export interface EvaluatedObject {
  readonly evaluation: Evaluation;
  readonly createdMs: number | undefined;
  /** The owner; undefined: none, or unknown. */
  readonly snapshot: ProviderSnapshot | undefined;
}

/** Gathers the facts of an object and evaluates it, for explanations, lists and the status page. */
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
    // Only the leader knows whether the instance of a Node that is not Ready is reported as deleted.
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

  provider(name: string): EvaluatedObject | undefined {
    const { providerSnapshots, clock } = this.#deps;
    const snapshot = providerSnapshots().find((one) => one.name === name);
    if (snapshot === undefined) return undefined;
    const evaluation = evaluateProvider(snapshot, clock.nowMs(), this.circuitBreakers().get(name));
    // Every replica has its own connection to every provider, so a standby's evaluation is complete.
    return { evaluation, createdMs: undefined, snapshot };
  }

  /** By provider; absent: no absent instances. Reads all Nodes. */
  circuitBreakers(): ReadonlyMap<string, DeletionCircuitBreaker> {
    return circuitBreakersOf(this.#delayedNodes());
  }

  providerNames(): readonly string[] {
    return this.#deps.providerSnapshots().map(({ name }) => name);
  }

  /** Evaluates an object with its owner. */
  #owned(
    { metadata }: Node | Service,
    quotaClass: QuotaClass,
    ownerIn: (providers: ProviderSet) => NodeOwner,
    evaluate: (owner: NodeOwner, troubles: readonly KnownCause[]) => Evaluation,
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
    const evaluation = evaluate(owner, troubles);
    const isPending = evaluation.state !== "ok" && evaluation.state !== "unmanaged";
    const throttled = isPending && snapshot !== undefined ? throttledCause(snapshot, quotaClass) : undefined;
    return { evaluation: withCauses([], evaluation, throttled), createdMs, snapshot };
  }

  /** Adds a problem of the controller. */
  #worked(found: EvaluatedObject, controller: string | undefined): EvaluatedObject {
    const { state } = found.evaluation;
    if (controller === undefined || state === "ok" || this.#deps.controllers().length === 0) return found;
    const own = controllerCause(controller, this.#supervised(controller));
    return own === undefined ? found : { ...found, evaluation: withCauses([own], found.evaluation) };
  }

  *#delayedNodes(): Iterable<DelayedNode> {
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

  /** Adds that a standby lacks the reconcile state. */
  #known(found: EvaluatedObject, isOk = found.evaluation.state === "ok"): EvaluatedObject {
    const { isLeader, leaderIdentity } = this.#deps.replica();
    if (isLeader || isOk || found.evaluation.state === "unmanaged") return found;
    const leader = leaderIdentity === undefined ? "" : ` (the leader is ${leaderIdentity})`;
    const message = `This replica is not the leader${leader}: it has the object, but not the reconcile state`;
    return { ...found, evaluation: withCauses([], found.evaluation, cause("NotLeader", message)) };
  }

  #last(controller: string, key: string): LastReconcile | undefined {
    return this.#supervised(controller)?.current?.last(key);
  }

  #supervised(controller: string): SupervisedController | undefined {
    return this.#deps.controllers().find(({ name }) => name === controller);
  }
}

function withCauses(before: readonly KnownCause[], evaluation: Evaluation, after?: KnownCause): Evaluation {
  const { causes, desired, ...healthy } = evaluation;
  return evaluationOf([...before, ...causes, ...(after === undefined ? [] : [after])], healthy, desired);
}
