import { isRecord, type Json } from "../../client/json.ts";
import type { KubeApi, Permission } from "../../client/kube-api.ts";
import { messageOf } from "../../errors.ts";
import type { Part } from "./parts.ts";
import { HIDDEN } from "./secret-patterns.ts";

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly permission: Permission;
}

const list = (apiGroup: string, resource: string): Permission => ({ verbs: ["list"], apiGroup, resource });

/** Only the kinds that the controller reconciles: no Secrets, ConfigMaps or pods. */
const KINDS: readonly Kind[] = [
  { name: "nodes", path: "/api/v1/nodes", permission: list("", "nodes") },
  { name: "services", path: "/api/v1/services", permission: list("", "services") },
];

/** Annotations of Kubernetes and Cloudwire, whose values are included. For others, only the key is. */
const SHOWN_ANNOTATIONS = /(?:^|[./])(?:kubernetes\.io|k8s\.io|cloudwire\.dev)\//;
/** Contains the whole object, including other annotations. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The Kubernetes objects that the controller reconciles, without the annotations of others. */
export async function objectParts(kube: KubeApi): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { name, path, permission } of KINDS) {
    const file = `objects/${name}.json`;
    try {
      const items = (await kube.list(path, permission)).map(filtered);
      parts.push({ kind: "file", name: file, text: `${JSON.stringify(items, undefined, 2)}\n` });
    } catch (error) {
      parts.push({ kind: "unavailable", name: file, message: messageOf(error) });
    }
  }
  return parts;
}

/** An object without managed fields and without the values of other annotations. */
export function filtered(object: unknown): unknown {
  if (!isRecord(object) || !isRecord(object["metadata"])) return object;
  const { managedFields: _, annotations, ...metadata } = object["metadata"];
  const shown = isRecord(annotations) ? { annotations: shownAnnotations(annotations) } : {};
  return { ...object, metadata: { ...metadata, ...shown } };
}

function shownAnnotations(annotations: Json): Json {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key,
      SHOWN_ANNOTATIONS.test(key) && key !== LAST_APPLIED ? value : HIDDEN,
    ]),
  );
}
