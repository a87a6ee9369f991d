/**
 * Kubernetes objects as this controller sees them: trimmed, read-only, the same whether they came as JSON or protobuf.
 *
 * Shape rules, so that no reader has to tell "absent" from "empty" where Kubernetes itself does not:
 * a field that is a plain value in Go is always there ("" / 0 / false / [] / {} when unset); a field that is a pointer in
 * Go is `undefined` when unset. Times are milliseconds since the epoch. Field names are those of the Kubernetes API.
 */
export interface ObjectMeta {
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly uid: string;
  /** Opaque; only to be compared for equality or sent back. */
  readonly resourceVersion: string;
  readonly generation: number;
  /** Second precision. 0 when the server did not say (never for a stored object). */
  readonly creationTimestampMs: number;
  /** Set once deletion was asked for and finalizers still hold the object. Second precision. */
  readonly deletionTimestampMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
}

/** What every cached object has. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
}

/** The place of an object inside its kind. `namespace` is left out for cluster-scoped kinds. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/** core/v1 ObjectReference: what an Event or an ownership note points at. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** metav1.Condition, as in `Service.status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration: number;
  readonly lastTransitionTimeMs: number;
  readonly reason: string;
  readonly message: string;
}

/** "True", "False" or "Unknown". Open, because a newer server may say something else. */
export type ConditionStatus = string;

/** The key of an object in caches and queues: `namespace/name`, or `name` for cluster-scoped kinds. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
