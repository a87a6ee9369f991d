import type { Deps } from "../api/context.ts";
import { deleteObject } from "../api/delete.ts";
import { replaceObject } from "../api/update.ts";
import { encodeObject } from "../api/codec.ts";
import { type KubeObject, nameOf } from "../object.ts";
import { type Resource, tableOf, type UserName } from "../resources/resource.ts";

export interface NamespaceControllerDeps extends Deps {
  readonly resources: readonly Resource[];
}

const controller: UserName = {
  name: "system:serviceaccount:kube-system:namespace-controller",
  groups: ["system:serviceaccounts", "system:authenticated"],
};

/** Stands in for kube-controller-manager's namespace controller: empties a namespace that is being deleted, then lets it go. */
export function runNamespaceController(deps: NamespaceControllerDeps): () => void {
  const namespaces = deps.resources.find(({ name }) => name === "namespaces");
  if (namespaces === undefined) return () => undefined;
  const stored = deps.resources.filter((resource) => resource.namespaced && resource.view === undefined);
  const reconcile = (namespace: string): void => {
    const object = deps.store.get(tableOf(namespaces), namespace);
    if (object?.metadata.deletionTimestamp === undefined) return;
    if (emptied(deps, stored, namespace)) finalize(deps, namespaces, object);
  };
  const unsubscribes = [
    deps.store.subscribe(tableOf(namespaces), ({ object }) => {
      // After the write that set this off has returned to its client.
      if (object !== undefined) queueMicrotask(() => reconcile(nameOf(object)));
    }),
    ...stored.map((resource) =>
      deps.store.subscribe(tableOf(resource), ({ object, previous }) => {
        const namespace = previous?.metadata.namespace;
        if (object === undefined && namespace !== undefined) queueMicrotask(() => reconcile(namespace));
      }),
    ),
  ];
  return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
}

/** Deletes what is left; true once nothing is. */
function emptied(deps: Deps, resources: readonly Resource[], namespace: string): boolean {
  let remaining = 0;
  for (const resource of resources) {
    const entries = deps.store.list(tableOf(resource)).filter(({ key }) => key.startsWith(`${namespace}/`));
    for (const { object } of entries) {
      const target = { namespace, name: nameOf(object) };
      const deleted =
        object.metadata.deletionTimestamp === undefined && deleteObject(deps, resource, target, { dryRun: false });
      if (deleted === false || deleted.kind === "pending") remaining += 1;
    }
  }
  return remaining === 0;
}

function finalize(deps: Deps, namespaces: Resource, object: KubeObject): void {
  const finalizer = namespaces.subresources.find(({ name }) => name === "finalize");
  const target = { namespace: "", name: nameOf(object) };
  const body = { ...encodeObject(deps.schema, namespaces, object), spec: {} };
  const options = { user: controller, dryRun: false, fieldValidation: "Ignore", warn: () => undefined } as const;
  replaceObject(deps, namespaces, finalizer, target, body, options);
}
