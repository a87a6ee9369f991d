import type { Duplex } from "node:stream";

/** The requests to an API server that commands need. Failures reject with a CommandError. */
export interface KubeApi {
  /** Its address, for messages. */
  readonly server: string;
  /** The object at a path; undefined: it does not exist. */
  readonly get: (path: string, permission: Permission) => Promise<unknown>;
  /** All items of a list, page after page. */
  readonly list: (path: string, permission: Permission) => Promise<readonly unknown[]>;
  readonly create: (path: string, body: object, permission: Permission) => Promise<unknown>;
  /** A merge patch (RFC 7386); undefined: the object does not exist. */
  readonly patch: (path: string, body: object, permission: Permission) => Promise<unknown>;
  /** A connection to a port of a pod. */
  readonly portForward: (pod: PodPort, signal: AbortSignal) => Promise<Duplex>;
  /** Credentials for the API server, also valid for servers that delegate authentication to it. */
  readonly credentials: () => Promise<Credentials>;
}

/** The permission that a request requires, for messages. */
export interface Permission {
  readonly verbs: readonly string[];
  readonly apiGroup: string;
  readonly resource: string;
  /** Absent: cluster-wide. */
  readonly namespace?: string;
}

export interface PodPort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Authenticates a client. */
export interface Credentials {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

/** The RBAC rule of a permission, to be pasted into a Role or ClusterRole. */
export function ruleOf({ apiGroup, resource, verbs, namespace }: Permission): string {
  const where = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  return `${where} with the rule {apiGroups: ["${apiGroup}"], resources: [${resource}], verbs: [${verbs.join(", ")}]}`;
}

/** The RBAC rule for an endpoint of the controller. */
export function endpointRuleOf(path: string): string {
  return `a ClusterRole with the rule {nonResourceURLs: ["${path}"], verbs: [get]}`;
}
