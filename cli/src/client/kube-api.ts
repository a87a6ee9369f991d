import type { Duplex } from "node:stream";

/** As much of an API server as commands ask of it. Whatever fails rejects with a CommandError that says what to do. */
export interface KubeApi {
  /** Its address, for messages. */
  readonly server: string;
  /** The object at a path; undefined: there is none. */
  readonly get: (path: string, right: Right) => Promise<unknown>;
  /** All items of a list, page after page. */
  readonly list: (path: string, right: Right) => Promise<readonly unknown[]>;
  readonly create: (path: string, body: object, right: Right) => Promise<unknown>;
  /** A merge patch (RFC 7386); undefined: there is no such object. */
  readonly patch: (path: string, body: object, right: Right) => Promise<unknown>;
  /** A connection to a port of a pod. */
  readonly portForward: (pod: PodPort, signal: AbortSignal) => Promise<Duplex>;
  /** Credentials for the API server, also valid for servers that delegate authentication to it. */
  readonly credentials: () => Promise<Credentials>;
}

/** What RBAC has to allow, for messages. */
export interface Right {
  readonly verbs: readonly string[];
  readonly apiGroup: string;
  readonly resource: string;
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
}

export interface PodPort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** What a client shows of itself. */
export interface Credentials {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

/** The rule that gives a right, to be pasted into a Role or ClusterRole. */
export function ruleOf({ apiGroup, resource, verbs, namespace }: Right): string {
  const where = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  return `${where} with the rule {apiGroups: ["${apiGroup}"], resources: [${resource}], verbs: [${verbs.join(", ")}]}`;
}

/** The same for a page of the controller. */
export function pageRuleOf(path: string): string {
  return `a ClusterRole with the rule {nonResourceURLs: ["${path}"], verbs: [get]}`;
}
