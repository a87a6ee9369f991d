import type { BrakeStanding, Replica } from "@cloudwire/operator-api";
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
import { type Held, brakesOf, judgeNode } from "./node.ts";
import { controllerTrouble } from "../controller-status.ts";
import { heldCause, judgeProvider, providerTroubles } from "./provider.ts";
import { judgeRoute } from "./route.ts";
import { judgeService } from "./service.ts";
import { type Judgement, judgement, type LastReconcile } from "./evaluation.ts";
import { cause, type KnownCause } from "../reasons/reasons.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { NodeOwner, ProviderSet } from "../../provider/model/provider.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { classesOf } from "../../provider/ownership/provider-set.ts";
import type { SupervisedController } from "../../runtime/supervised-controller.ts";
import type { Clock } from "../../util/clock.ts";

export interface ObjectJudgeDependencies {
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
export interface Judged {
  readonly judged: Judgement;
  readonly createdMs: number | undefined;
  /** Whose it is; undefined: nobody's, or it cannot be told. */
  readonly snapshot: ProviderSnapshot | undefined;
}

/**
 * Gathers what explain's judges need to know of one object, and what is said of every object alike: a controller that is off, a replica that does not lead.
 * Explanations, lists and the status page say the same, for all of them ask here. Some microseconds.
 */
export class ObjectJudge {
  readonly #deps: ObjectJudgeDependencies;

  constructor(dependencies: ObjectJudgeDependencies) {
    this.#deps = dependencies;
  }

  node(node: Node): Judged {
    const { name } = node.metadata;
    const controller = isUninitialized(node) ? CLOUD_NODE_CONTROLLER : CLOUD_NODE_LIFECYCLE_CONTROLLER;
    const isWanted = isUninitialized(node) || !isReady(node);
    const found = this.#owned(
      node,
      "instances",
      (providers) => providers.ownerOfNode(node),
      (owner, troubles) =>
        judgeNode({
          node,
          owner,
          troubles,
          initialization: this.#last(CLOUD_NODE_CONTROLLER, name),
          lifecycle: this.#last(CLOUD_NODE_LIFECYCLE_CONTROLLER, name),
        }),
    );
    const worked = this.#worked(found, isWanted ? controller : undefined);
    // Whether the machine of one that is not Ready is said to be gone is known where it is asked about.
    return this.#known(worked, worked.judged.state === "ok" && isReady(node));
  }

  /** The routes of a Node. */
  route(node: Node): Judged {
    const last = this.#last(NODE_ROUTE_CONTROLLER, node.metadata.name);
    const found = this.#owned(
      node,
      "routes",
      (providers) => providers.ownerOfNode(node),
      (owner, troubles) => judgeRoute({ node, owner, troubles, last }),
    );
    return this.#known(this.#worked(found, NODE_ROUTE_CONTROLLER));
  }

  service(service: Service): Judged {
    const { clock, providerSnapshots } = this.#deps;
    const found = this.#owned(
      service,
      "load_balancers",
      (providers) => providers.ownerOfService(service),
      (owner, troubles) =>
        judgeService({
          service,
          owner,
          troubles,
          last: this.#last(SERVICE_LB_CONTROLLER, keyOf(service)),
          classes: providerSnapshots().flatMap(({ info }) => (info === undefined ? [] : classesOf(info))),
          nowMs: clock.nowMs(),
        }),
    );
    if (!concernsAdded(service)) return { ...found, snapshot: undefined };
    const isWanted = found.judged.state !== "unmanaged";
    return this.#known(this.#worked(found, isWanted ? SERVICE_LB_CONTROLLER : undefined));
  }

  /** undefined: there is none of that name. */
  provider(name: string): Judged | undefined {
    const { providerSnapshots, clock } = this.#deps;
    const snapshot = providerSnapshots().find((one) => one.name === name);
    if (snapshot === undefined) return undefined;
    const judged = judgeProvider(snapshot, clock.nowMs(), this.brakes().get(name));
    // Every replica is connected to every provider: what it knows of one is its own.
    return { judged, createdMs: undefined, snapshot };
  }

  /** By provider; those of none of whose Nodes' machines are said to be gone are not there. Looks at all Nodes, only when somebody asks. */
  brakes(): ReadonlyMap<string, BrakeStanding> {
    return brakesOf(this.#held());
  }

  providerNames(): readonly string[] {
    return this.#deps.providerSnapshots().map(({ name }) => name);
  }

  /** What the judge says of an object once it is known whose it is. `quotaClass` is that of the calls made for it. */
  #owned(
    { metadata }: Node | Service,
    quotaClass: QuotaClass,
    ownerIn: (providers: ProviderSet) => NodeOwner,
    judge: (owner: NodeOwner, troubles: readonly KnownCause[]) => Judgement,
  ): Judged {
    const { providers: connected, providerSnapshots, clock } = this.#deps;
    const providers = connected();
    const createdMs = metadata.creationTimestampMs;
    if (providers === undefined) {
      const starting = judgement([cause("CacheNotFilled")], { state: "waiting", summary: "" });
      return { judged: starting, createdMs, snapshot: undefined };
    }
    const owner = ownerIn(providers);
    const ownerName = owner.kind === "owned" ? owner.provider.name : undefined;
    const snapshot = providerSnapshots().find((one) => one.name === ownerName);
    const troubles = snapshot === undefined ? [] : providerTroubles(snapshot, clock.nowMs());
    const judged = judge(owner, troubles);
    const isWorkedOn = judged.state !== "ok" && judged.state !== "unmanaged";
    const held = isWorkedOn && snapshot !== undefined ? heldCause(snapshot, quotaClass) : undefined;
    return { judged: held === undefined ? judged : withCauses([], judged, [held]), createdMs, snapshot };
  }

  /** A controller that is off, or broken, is why nothing is done. */
  #worked(found: Judged, controller: string | undefined): Judged {
    const { state } = found.judged;
    if (controller === undefined || state === "ok" || this.#deps.controllers().length === 0) return found;
    const trouble = controllerTrouble(controller, this.#supervised(controller));
    return trouble === undefined ? found : { ...found, judged: withCauses([trouble], found.judged, []) };
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

  #known(found: Judged, isWished = found.judged.state === "ok"): Judged {
    const isKnown = isWished || found.judged.state === "unmanaged";
    return isKnown ? found : { ...found, judged: knownHere(found.judged, this.#deps.replica()) };
  }

  #last(controller: string, key: string): LastReconcile | undefined {
    return this.#supervised(controller)?.current?.last(key);
  }

  #supervised(controller: string): SupervisedController | undefined {
    return this.#deps.controllers().find(({ name }) => name === controller);
  }
}

/** What is not as wished, by a replica that does not know what is being done about it. */
function knownHere(judged: Judgement, { leads, leader }: Replica): Judgement {
  if (leads) return judged;
  const who = leader === undefined ? "" : `: ${leader} does`;
  const message = `This replica does not lead${who}; it knows the object, and not what is being done about it`;
  return withCauses([], judged, [cause("NotTheLeader", message)]);
}

function withCauses(before: readonly KnownCause[], judged: Judgement, after: readonly KnownCause[]): Judgement {
  const { state, summary, causes, wishes } = judged;
  return judgement([...before, ...causes, ...after], { state, summary }, wishes);
}
