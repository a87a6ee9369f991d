/**
 * Kubernetes objects are trimmed and read-only, and the same for JSON and protobuf. Field names are those of the Kubernetes API. An unset
 * field is "", 0, false, [] or {} where Go has a value, and `undefined` where Go has a pointer. Times are milliseconds since the epoch.
 */
export interface ObjectMeta {
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly uid: string;
  /** Opaque. */
  readonly resourceVersion: string;
  readonly generation: number;
  /** Second precision. */
  readonly creationTimestampMs: number;
  /** Set while finalizers delay the deletion. Second precision. */
  readonly deletionTimestampMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
}

export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface ObjectName {
  /** Unset for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
}

/** core/v1 ObjectReference. */
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

/** "True", "False" or "Unknown"; newer servers may have other values. */
export type ConditionStatus = string;

/** The key of an object in caches and queues: `namespace/name`, or `name` for cluster-scoped kinds. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Of a key of {@link keyOf}; "" for a key without a namespace. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}
