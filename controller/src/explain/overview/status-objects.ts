import type { ObjectRef, ObjectRow } from "@cloudwire/operator-api";
import { type KubeObject, keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { hasFinalizer, wantsLoadBalancer } from "../../controllers/service/predicates.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { iso } from "../../util/text.ts";
import type { EvaluatedObject, ObjectEvaluator } from "../evaluate/object-evaluator.ts";
import type { CachedObjects } from "./status-cache.ts";

export interface ClusterObjectsDependencies {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  /** Routes are managed, here or where it leads. */
  readonly hasRoutes: boolean;
  readonly evaluator: ObjectEvaluator;
}

/** Rows of the cluster's objects, as explanations have them. */
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
    const ends = [
      nodes.addHandler(
        handlerOf((key) => {
          onChange(`node/${key}`);
          if (hasRoutes) onChange(`route/${key}`);
        }),
      ),
      services.addHandler(handlerOf((key) => onChange(`service/${key}`))),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  rowOf(object: ObjectRef): ObjectRow | undefined {
    const { nodes, services, hasRoutes, evaluator } = this.#deps;
    const slash = object.indexOf("/");
    const key = object.slice(slash + 1);
    switch (object.slice(0, slash)) {
      case "node": {
        const node = nodes.lister.get(key);
        return node && rowOf(object, evaluator.node(node));
      }
      case "route": {
        const node = hasRoutes ? nodes.lister.get(key) : undefined;
        return node && rowOf(object, evaluator.route(node));
      }
      case "service": {
        const service = services.lister.get(key);
        return service && isShown(service) ? rowOf(object, evaluator.service(service)) : undefined;
      }
      default: {
        const found = evaluator.provider(key);
        return found && rowOf(object, found);
      }
    }
  }
}

/** Services of other types are nobody's concern here, and most of a cluster's. */
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
