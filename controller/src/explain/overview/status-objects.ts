import type { ObjectKind, ObjectRef, ObjectRow } from "@cloudwire/operator-api";
import { type KubeObject, keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { hasFinalizer, wantsLoadBalancer } from "../../controllers/service/predicates.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { iso } from "../../util/text.ts";
import type { EvaluatedObject, ObjectEvaluator } from "../evaluate/object-evaluator.ts";
import { type CachedObjects, kindOf } from "./status-cache.ts";

export interface ClusterObjectsDependencies {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  /** Routes are managed, by this replica or by the leader. */
  readonly hasRoutes: boolean;
  readonly evaluator: ObjectEvaluator;
}

/** Rows of the objects in the cluster, from the same evaluations as explanations. */
export class ClusterObjects implements CachedObjects {
  readonly #deps: ClusterObjectsDependencies;

  constructor(dependencies: ClusterObjectsDependencies) {
    this.#deps = dependencies;
  }

  *refs(): Iterable<ObjectRef> {
    const { nodes, services, providerSnapshots, hasRoutes } = this.#deps;
    for (const { name } of providerSnapshots()) yield `provider/${name}`;
    for (const service of services.lister.list()) if (isShown(service)) yield `service/${keyOf(service)}`;
    for (const node of nodes.lister.list()) {
      yield `node/${keyOf(node)}`;
      if (hasRoutes) yield `route/${keyOf(node)}`;
    }
  }

  watch(onChange: (object: ObjectRef) => void): () => void {
    const { nodes, services, hasRoutes } = this.#deps;
    const onNode = (key: string): void => {
      onChange(`node/${key}`);
      if (hasRoutes) onChange(`route/${key}`);
    };
    const removeNodes = nodes.addHandler(handlerOf(onNode));
    const removeServices = services.addHandler(handlerOf((key) => onChange(`service/${key}`)));
    return () => {
      removeNodes();
      removeServices();
    };
  }

  rowOf(object: ObjectRef): ObjectRow | undefined {
    const key = object.slice(object.indexOf("/") + 1);
    const evaluated = this.#evaluate(kindOf(object), key);
    return evaluated && rowOf(object, evaluated);
  }

  #evaluate(kind: ObjectKind, key: string): EvaluatedObject | undefined {
    const { nodes, services, hasRoutes, evaluator } = this.#deps;
    if (kind === "provider") return evaluator.provider(key);
    if (kind === "service") {
      const service = services.lister.get(key);
      return service && isShown(service) ? evaluator.service(service) : undefined;
    }
    const node = kind === "node" || hasRoutes ? nodes.lister.get(key) : undefined;
    return node && evaluator[kind](node);
  }
}

/** Most Services of a cluster have another type. */
function isShown(service: Service): boolean {
  return wantsLoadBalancer(service) || hasFinalizer(service);
}

function handlerOf(changed: (key: string) => void) {
  return {
    onAdd: (object: KubeObject) => changed(keyOf(object)),
    onUpdate: (_old: KubeObject, object: KubeObject) => changed(keyOf(object)),
    onDelete: (last: KubeObject) => changed(keyOf(last)),
  };
}

function rowOf(object: ObjectRef, { evaluation, createdMs, snapshot }: EvaluatedObject): ObjectRow {
  const { state, summary, causes } = evaluation;
  const [first] = causes;
  return {
    object,
    state,
    ...(first === undefined ? {} : { reason: first.reason }),
    summary,
    provider: snapshot?.name ?? "",
    ...(createdMs === undefined ? {} : { creationTime: iso(createdMs) }),
  };
}
