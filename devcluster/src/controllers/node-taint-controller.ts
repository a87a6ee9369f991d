import { type Json, isJsonArray, sameJson, stringAt, valueAt } from "../json.ts";
import { type KubeObject, nameOf } from "../object.ts";
import type { Store } from "../storage/store.ts";

const table = "/nodes";
const notReady = "node.kubernetes.io/not-ready";

/** Stands in for kube-controller-manager's node lifecycle controller: takes the not-ready taint off a node whose kubelet reports Ready. */
export function runNodeTaintController(store: Store): () => void {
  return store.subscribe(table, ({ object }) => {
    if (object === undefined || !isReady(object)) return;
    const name = nameOf(object);
    // After the write that set this off has returned to its client.
    queueMicrotask(() => untaint(store, name));
  });
}

function isReady(node: KubeObject): boolean {
  const conditions = valueAt(node, "status", "conditions");
  return (
    isJsonArray(conditions) &&
    conditions.some((condition) => stringAt(condition, "type") === "Ready" && stringAt(condition, "status") === "True")
  );
}

function untaint(store: Store, name: string): void {
  const node = store.get(table, name);
  if (node === undefined || !isReady(node)) return;
  const taints = valueAt(node, "spec", "taints");
  if (!isJsonArray(taints)) return;
  const kept = taints.filter((taint) => stringAt(taint, "key") !== notReady);
  if (sameJson(kept, taints)) return;
  store.put(table, name, { ...node, ...withTaints(node, kept) });
}

function withTaints(node: KubeObject, taints: readonly Json[]): { readonly spec: Json } {
  const spec = valueAt(node, "spec");
  const { taints: _taints, ...rest } = typeof spec === "object" && spec !== null && !isJsonArray(spec) ? spec : {};
  return { spec: taints.length === 0 ? rest : { ...rest, taints } };
}
