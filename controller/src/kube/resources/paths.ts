import type { ObjectName } from "../../api/meta.ts";
import type { Resource } from "./resource.ts";

/** Path of a collection: of one namespace, or of all when `namespace` is left out. */
export function collectionPath(resource: Resource<unknown>, namespace?: string): string {
  const { group, version, plural } = resource;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${plural}`;
}

export function objectPath(resource: Resource<unknown>, { namespace, name }: ObjectName, subresource?: string): string {
  const tail = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}${tail}`;
}

/** `?a=b&c=d` of what is set; "" when nothing is. */
export function queryString(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
