import { isRecord, type Json } from "../../client/json.ts";
import type { KubeApi, Right } from "../../client/kube-api.ts";
import { messageOf } from "../../errors.ts";
import type { Part } from "./parts.ts";
import { HIDDEN } from "./secret-patterns.ts";

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly right: Right;
}

const list = (apiGroup: string, resource: string): Right => ({ verbs: ["list"], apiGroup, resource });

/** No Secrets, no ConfigMaps, no pods: what the controller works on, and nothing else. */
const KINDS: readonly Kind[] = [
  { name: "nodes", path: "/api/v1/nodes", right: list("", "nodes") },
  { name: "services", path: "/api/v1/services", right: list("", "services") },
];

/** Annotations whose values are shown: Kubernetes' own and ours. Of others only the key is. */
const SHOWN_ANNOTATIONS = /(?:^|[./])(?:kubernetes\.io|k8s\.io|cloudwire\.dev)\//;
/** Holds the whole object again, other people's annotations among it. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The Kubernetes objects that the controller works on, without what others have written to them. */
export async function objectParts(kube: KubeApi): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { name, path, right } of KINDS) {
    const file = `objects/${name}.json`;
    try {
      const items = (await kube.list(path, right)).map(filtered);
      parts.push({ kind: "file", name: file, text: `${JSON.stringify(items, undefined, 2)}\n` });
    } catch (error) {
      parts.push({ kind: "unavailable", name: file, message: messageOf(error) });
    }
  }
  return parts;
}

/** An object without its managed fields, and without the values of annotations that may hold anything. */
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
