import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { type User, createAccess } from "./access/access.ts";
import { createReviews } from "./access/reviews.ts";
import { badRequest, statusOf } from "./api-error.ts";
import { encodeObject, toStored } from "./api/codec.ts";
import { type Deps, keyOf } from "./api/context.ts";
import { type BootstrapInput, createApiService, createNamespaces } from "./bootstrap.ts";
import { type Clock, systemClock } from "./clock.ts";
import { runNamespaceController } from "./controllers/namespace-controller.ts";
import { runNodeTaintController } from "./controllers/node-taint-controller.ts";
import type { HandlerDeps } from "./http/deps.ts";
import { handle } from "./http/handler.ts";
import { type TlsIdentity, listen } from "./http/listener.ts";
import type { Reply } from "./http/reply.ts";
import { readRequest } from "./http/protobuf-edge.ts";
import { type RawRequest, headerOf } from "./http/request.ts";
import type { JsonObject } from "./json.ts";
import { formatKubeconfig } from "./kubeconfig.ts";
import { withMetadata } from "./object.ts";
import { createTranslator } from "./protobuf/translator.ts";
import { createRegistry } from "./resources/registry.ts";
import { type Resource, apiVersionOf, tableOf } from "./resources/resource.ts";
import { createSchema } from "./schema/schema.ts";
import { formatTime } from "./schema/time.ts";
import { typeTable } from "./schema/gen/type-table.ts";
import { Store } from "./storage/store.ts";

/** A request as tests see it. */
export interface RecordedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly userAgent: string;
  /** As JSON, also when it came as protobuf. */
  readonly body: string;
}

/** An answer that a test gives instead of the cluster. */
export interface CannedAnswer {
  readonly status: number;
  /** A Kubernetes object, most often a Status. */
  readonly body: JsonObject;
}

/** What an intercepted request comes to. */
export type Interception =
  /** The cluster answers. */
  { readonly kind: "pass" } | { readonly kind: "answer"; readonly answer: CannedAnswer };

/** How a cluster is to be; all of it optional. */
export interface DevClusterOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly tls?: TlsIdentity;
  readonly clock?: Clock;
  /** Who may sign in with a token. */
  readonly users?: readonly User[];
  /** Requests without a token act as the administrator; default true. */
  readonly anonymous?: boolean;
  /** UID of kube-system, by which the cluster is known; default one that never changes. */
  readonly clusterUid?: string;
  /** IPv4 range of cluster IPs; default 10.96.0.0/16. */
  readonly serviceCidr?: string;
  /** Writes that watches can resume from; default 20,000. */
  readonly historyLimit?: number;
  /** Default 60,000, as on the real server. */
  readonly bookmarkIntervalMs?: number;
  /**
   * Whether new nodes get the taint not-ready, and what kube-controller-manager does is done here: lift it from a node that reports Ready, and
   * empty and remove deleted namespaces. Default true.
   */
  readonly controllers?: boolean;
  /** Whether `requests` is kept, which grows without bound: for tests, not for what runs long. Default true. */
  readonly recordsRequests?: boolean;
  /** Sees every request before it is answered and may answer it, after a wait if it likes. */
  readonly intercept?: (request: RecordedRequest) => Interception | Promise<Interception>;
}

/** A running cluster. */
export interface DevCluster {
  readonly url: string;
  readonly port: number;
  /** UID of the namespace kube-system. */
  readonly clusterUid: string;
  /** Text of a kubeconfig; a token makes it that user's. */
  readonly kubeconfig: (token?: string) => string;
  readonly writeKubeconfig: (path: string, token?: string) => Promise<void>;
  /**
   * Stores an object as given, past admission, validation and the separation of status, creating or replacing it. Defaults are filled in, and
   * uid and creationTimestamp where they are missing. Returns it as a client would get it.
   */
  readonly seed: (object: JsonObject) => JsonObject;
  /** An object as a client would get it, undefined when there is none. `namespace` is "" for cluster-wide kinds. */
  readonly read: (apiVersion: string, kind: string, namespace: string, name: string) => JsonObject | undefined;
  /** Every object of a kind, in the order of keys. */
  readonly list: (apiVersion: string, kind: string) => readonly JsonObject[];
  /** Forgets the history so far: watches and lists from an earlier resourceVersion get 410 Gone. */
  readonly compact: () => void;
  /** Every request since the start or the last `clearRequests`. */
  readonly requests: readonly RecordedRequest[];
  readonly clearRequests: () => void;
  /** Ends every connection and frees the port. */
  readonly close: () => Promise<void>;
}

/** Never changes, so that what a demo created in a cloud is recognized after a restart. */
const defaultClusterUid = "de7c1057-0000-4000-8000-000000000001";

/** Starts an API server in memory. Rejects when the address cannot be had. */
export async function startDevCluster(options: DevClusterOptions = {}): Promise<DevCluster> {
  const { host = "127.0.0.1", clock = systemClock, clusterUid = defaultClusterUid } = options;
  const { serviceCidr = "10.96.0.0/16" } = options;
  const store = new Store({ historyLimit: options.historyLimit ?? 20_000 });
  const deps: Deps = {
    store,
    schema: createSchema(typeTable),
    nowMs: clock.nowMs,
    newUid: () => randomUUID(),
    nameSuffix: randomSuffix,
  };
  const resources = createRegistry({
    store,
    nowMs: clock.nowMs,
    serviceCidr,
    taintsNewNodes: options.controllers !== false,
  });
  const handlerDeps = createHandlerDeps(deps, options, resources, () => `${host}:${port}`);
  const bootstrap: BootstrapInput = {
    resources,
    clusterUid,
    apiClusterIp: serviceCidr.replace(/\d+\/\d+$/, "1"),
    port: () => port,
  };
  createNamespaces(deps, bootstrap);
  const requests: RecordedRequest[] = [];
  const listener = await listen({
    host,
    port: options.port ?? 0,
    tls: options.tls,
    handle: (request) => answer(handlerDeps, options, requests, request),
  });
  const { port } = listener;
  createApiService(deps, bootstrap);
  const stops =
    options.controllers === false ? [] : [runNamespaceController(handlerDeps), runNodeTaintController(store)];
  const url = `${options.tls === undefined ? "http" : "https"}://${host}:${port}`;
  const kubeconfig = (token?: string): string =>
    formatKubeconfig({ url, certificate: options.tls?.certificate, token });
  return {
    url,
    port,
    clusterUid,
    kubeconfig,
    writeKubeconfig: (path, token) => writeFile(path, kubeconfig(token), { mode: 0o600 }),
    ...createObjectAccess(deps, resources),
    compact: () => store.compact(store.revision),
    requests,
    clearRequests: () => {
      requests.length = 0;
    },
    close: async () => {
      stops.forEach((stop) => stop());
      await listener.close();
    },
  };
}

function createHandlerDeps(
  deps: Deps,
  options: DevClusterOptions,
  resources: readonly Resource[],
  serverAddress: () => string,
): HandlerDeps {
  const access = createAccess({ users: options.users ?? [], anonymous: options.anonymous ?? true });
  const reviews = createReviews(access);
  return {
    ...deps,
    clock: options.clock ?? systemClock,
    access,
    resources,
    reviews,
    translator: createTranslator(deps.schema, [...resources, ...reviews]),
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    serverAddress,
    jsonCache: new WeakMap(),
  };
}

async function answer(
  deps: HandlerDeps,
  options: DevClusterOptions,
  requests: RecordedRequest[],
  raw: RawRequest,
): Promise<Reply> {
  const read = readRequest(deps.translator, raw);
  if (read.kind === "unreadable") {
    const error = badRequest(`the object provided is unrecognized: ${read.why}`);
    return { kind: "json", status: error.code, body: JSON.stringify(statusOf(error)) };
  }
  const { request } = read;
  const query = request.query.toString();
  const recorded: RecordedRequest = {
    method: request.method,
    path: query === "" ? request.path : `${request.path}?${query}`,
    userAgent: headerOf(request, "user-agent") ?? "",
    body: request.body,
  };
  if (options.recordsRequests !== false) requests.push(recorded);
  const interception = await options.intercept?.(recorded);
  if (interception?.kind !== "answer") return handle(deps, request);
  const { status, body } = interception.answer;
  return { kind: "json", status, body: JSON.stringify(body) };
}

type ObjectAccess = Pick<DevCluster, "seed" | "read" | "list">;

function createObjectAccess(deps: Deps, resources: readonly Resource[]): ObjectAccess {
  const find = (apiVersion: unknown, kind: unknown): Resource => {
    const found = resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);
    if (found !== undefined) return found;
    const served = resources.map((resource) => `${apiVersionOf(resource)} ${resource.kind}`).join(", ");
    throw new Error(`devcluster has no kind ${String(apiVersion)} ${String(kind)}; it serves ${served}`);
  };
  return {
    seed: (object) => {
      const resource = find(object["apiVersion"], object["kind"]);
      const { object: decoded } = toStored(deps.schema, resource, object);
      const { metadata } = decoded;
      const namespace = resource.namespaced ? (metadata.namespace ?? "default") : "";
      const complete = withMetadata(decoded, {
        ...(resource.namespaced ? { namespace } : {}),
        uid: metadata.uid ?? deps.newUid(),
        creationTimestamp: metadata.creationTimestamp ?? formatTime(deps.nowMs()),
      });
      const stored = deps.store.put(tableOf(resource), keyOf({ namespace, name: metadata.name ?? "" }), complete);
      return encodeObject(deps.schema, resource, stored);
    },
    read: (apiVersion, kind, namespace, name) => {
      const resource = find(apiVersion, kind);
      const object = deps.store.get(tableOf(resource), keyOf({ namespace, name }));
      return object === undefined ? undefined : encodeObject(deps.schema, resource, object);
    },
    list: (apiVersion, kind) => {
      const resource = find(apiVersion, kind);
      return deps.store.list(tableOf(resource)).map(({ object }) => encodeObject(deps.schema, resource, object));
    },
  };
}

/** The letters and digits of generated names on the real server: none that form words by accident. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

function randomSuffix(): string {
  return [...randomBytes(5)].map((byte) => suffixAlphabet[byte % suffixAlphabet.length]).join("");
}
