import { type KubeObject, nameOf } from "../object.ts";
import type { Resource } from "../resources/resource.ts";
import { parseFieldSelector } from "../selectors/field-selector.ts";
import { parseLabelSelector } from "../selectors/label-selector.ts";

/** Which objects a list or watch is about. */
export interface Predicate {
  readonly matches: (object: KubeObject) => boolean;
  /** Some objects of the scope may be left out, so no one knows how many remain. */
  readonly selective: boolean;
}

/** Parses the selectors of a request; throws ApiError 400. `namespace` is "" for all. */
export function createPredicate(
  resource: Resource,
  namespace: string,
  selectors: { readonly labelSelector: string; readonly fieldSelector: string },
): Predicate {
  const labels = parseLabelSelector(selectors.labelSelector);
  const fields = parseFieldSelector(selectors.fieldSelector, [
    "metadata.name",
    ...(resource.namespaced ? ["metadata.namespace"] : []),
    ...resource.selectableFields,
  ]);
  return {
    selective: labels !== undefined || fields !== undefined,
    matches: (object) =>
      (namespace === "" || object.metadata.namespace === namespace) &&
      (labels === undefined || labels(object.metadata.labels ?? {})) &&
      (fields === undefined || fields(fieldsOf(resource, object))),
  };
}

function fieldsOf(resource: Resource, object: KubeObject): Readonly<Record<string, string>> {
  return {
    "metadata.name": nameOf(object),
    "metadata.namespace": object.metadata.namespace ?? "",
    ...resource.fieldsOf?.(object),
  };
}
