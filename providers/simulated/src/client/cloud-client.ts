import { Account, Events, type ResourceKind } from "../api/events.ts";
import {
  Instance,
  InstanceLookup,
  InstancePage,
  type InstancePatch,
  Instances,
  type InstanceSpec,
} from "../api/instances.ts";
import {
  type ChangeTargets,
  LoadBalancer,
  LoadBalancerChange,
  LoadBalancerPage,
  type LoadBalancerPatch,
  type LoadBalancerSpec,
  Operation,
  Targets,
} from "../api/load-balancers.ts";
import { RoutePage, RouteResults, type RouteSpec } from "../api/routes.ts";
import { Volume, VolumeLookup, VolumePage, type VolumeSpec } from "../api/volumes.ts";
import { type AnswerChecks, type CallOutcome, HttpClient, NoContent, withQuery } from "./http.ts";

export interface CloudClientOptions {
  readonly url: string;
  readonly apiKey: string;
  /** Of clients that do not live long. */
  readonly checks?: AnswerChecks;
  /** Called for each call. */
  readonly observe?: (outcome: CallOutcome) => void;
}

export interface ListOptions {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly consistent?: boolean | undefined;
  readonly id?: readonly string[] | undefined;
  readonly name?: readonly string[] | undefined;
  /** `key=value` */
  readonly tag?: readonly string[] | undefined;
}

export interface InstanceListOptions extends ListOptions {
  readonly zone?: readonly string[] | undefined;
  readonly state?: readonly string[] | undefined;
}

export interface LookupOptions {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
  readonly consistent?: boolean;
}

export interface EventOptions {
  readonly after?: string | undefined;
  readonly kind?: readonly ResourceKind[] | undefined;
  readonly waitMs?: number | undefined;
}

/** The cloud's API, one method an operation. Each takes the signal that ends it; failures are CloudCallError. */
export class CloudClient {
  readonly #http: HttpClient;

  constructor({ url, apiKey, checks, observe }: CloudClientOptions) {
    const headers = { authorization: `Bearer ${apiKey}` };
    this.#http = new HttpClient({ baseUrl: url, headers, checks, ...(observe ? { observe } : {}) });
  }

  async account(signal: AbortSignal): Promise<Account> {
    return this.#http.call({ method: "GET", path: "/v1/account", answer: Account, signal });
  }

  async createInstances(items: readonly InstanceSpec[], signal: AbortSignal): Promise<Instance[]> {
    const call = { method: "POST", path: "/v1/instances", body: { items }, answer: Instances, signal } as const;
    return (await this.#http.call(call)).items;
  }

  async listInstances(options: InstanceListOptions, signal: AbortSignal): Promise<InstancePage> {
    const path = withQuery("/v1/instances", { ...options });
    return this.#http.call({ method: "GET", path, answer: InstancePage, signal });
  }

  async lookupInstances(options: LookupOptions, signal: AbortSignal): Promise<InstanceLookup> {
    const path = "/v1/instances/lookup";
    return this.#http.call({ method: "POST", path, body: options, answer: InstanceLookup, signal, mutation: false });
  }

  async patchInstance(id: string, patch: InstancePatch, signal: AbortSignal): Promise<Instance> {
    return this.#http.call({ method: "PATCH", path: instancePath(id), body: patch, answer: Instance, signal });
  }

  async startInstance(id: string, signal: AbortSignal): Promise<Instance> {
    return this.#http.call({ method: "POST", path: `${instancePath(id)}/start`, answer: Instance, signal });
  }

  async stopInstance(id: string, signal: AbortSignal): Promise<Instance> {
    return this.#http.call({ method: "POST", path: `${instancePath(id)}/stop`, answer: Instance, signal });
  }

  /** All or none. */
  async terminateInstances(ids: readonly string[], signal: AbortSignal): Promise<Instance[]> {
    const path = "/v1/instances/terminate";
    return (await this.#http.call({ method: "POST", path, body: { ids }, answer: Instances, signal })).items;
  }

  async createLoadBalancer(spec: LoadBalancerSpec, signal: AbortSignal): Promise<LoadBalancerChange> {
    const path = "/v1/load-balancers";
    return this.#http.call({ method: "POST", path, body: spec, answer: LoadBalancerChange, signal });
  }

  async listLoadBalancers(options: ListOptions, signal: AbortSignal): Promise<LoadBalancerPage> {
    const path = withQuery("/v1/load-balancers", { ...options });
    return this.#http.call({ method: "GET", path, answer: LoadBalancerPage, signal });
  }

  async getLoadBalancer(id: string, signal: AbortSignal): Promise<LoadBalancer> {
    const path = withQuery(loadBalancerPath(id), { consistent: true });
    return this.#http.call({ method: "GET", path, answer: LoadBalancer, signal });
  }

  async patchLoadBalancer(
    id: string,
    patch: LoadBalancerPatch,
    signal: AbortSignal,
    ifRevision?: number,
  ): Promise<LoadBalancerChange> {
    const path = withQuery(loadBalancerPath(id), { ifRevision });
    return this.#http.call({ method: "PATCH", path, body: patch, answer: LoadBalancerChange, signal });
  }

  async deleteLoadBalancer(id: string, signal: AbortSignal, ifRevision?: number): Promise<LoadBalancerChange> {
    const path = withQuery(loadBalancerPath(id), { ifRevision });
    return this.#http.call({ method: "DELETE", path, answer: LoadBalancerChange, signal });
  }

  async targets(id: string, signal: AbortSignal): Promise<Targets["items"]> {
    const path = `${loadBalancerPath(id)}/targets`;
    return (await this.#http.call({ method: "GET", path, answer: Targets, signal })).items;
  }

  async replaceTargets(
    id: string,
    targets: readonly string[],
    signal: AbortSignal,
    metadata?: Readonly<Record<string, string>>,
  ): Promise<LoadBalancerChange> {
    const body = metadata === undefined ? { targets } : { targets, metadata };
    const path = `${loadBalancerPath(id)}/targets`;
    return this.#http.call({ method: "PUT", path, body, answer: LoadBalancerChange, signal });
  }

  async changeTargets(id: string, change: ChangeTargets, signal: AbortSignal): Promise<LoadBalancerChange> {
    const path = `${loadBalancerPath(id)}/targets`;
    return this.#http.call({ method: "POST", path, body: change, answer: LoadBalancerChange, signal });
  }

  async operation(id: string, signal: AbortSignal): Promise<Operation> {
    const path = `/v1/operations/${encodeURIComponent(id)}`;
    return this.#http.call({ method: "GET", path, answer: Operation, signal });
  }

  async listRoutes(
    options: ListOptions & { readonly destination?: readonly string[] },
    signal: AbortSignal,
  ): Promise<RoutePage> {
    const path = withQuery("/v1/routes", { ...options });
    return this.#http.call({ method: "GET", path, answer: RoutePage, signal });
  }

  /** One result an item, in the order asked. */
  async createRoutes(items: readonly RouteSpec[], signal: AbortSignal): Promise<RouteResults> {
    return this.#http.call({ method: "POST", path: "/v1/routes", body: { items }, answer: RouteResults, signal });
  }

  async deleteRoutes(ids: readonly string[], signal: AbortSignal): Promise<RouteResults> {
    return this.#http.call({ method: "POST", path: "/v1/routes/delete", body: { ids }, answer: RouteResults, signal });
  }

  async createVolume(spec: VolumeSpec, signal: AbortSignal): Promise<Volume> {
    return this.#http.call({ method: "POST", path: "/v1/volumes", body: spec, answer: Volume, signal });
  }

  async listVolumes(
    options: ListOptions & { readonly zone?: readonly string[] },
    signal: AbortSignal,
  ): Promise<VolumePage> {
    const path = withQuery("/v1/volumes", { ...options });
    return this.#http.call({ method: "GET", path, answer: VolumePage, signal });
  }

  async lookupVolumes(ids: readonly string[], consistent: boolean, signal: AbortSignal): Promise<VolumeLookup> {
    const body = { ids, consistent };
    return this.#http.call({
      method: "POST",
      path: "/v1/volumes/lookup",
      body,
      answer: VolumeLookup,
      signal,
      mutation: false,
    });
  }

  async deleteVolume(id: string, signal: AbortSignal): Promise<void> {
    const path = `/v1/volumes/${encodeURIComponent(id)}`;
    await this.#http.call({ method: "DELETE", path, answer: NoContent, signal });
  }

  async events(options: EventOptions, signal: AbortSignal): Promise<Events> {
    const path = withQuery("/v1/events", { ...options });
    return this.#http.call({ method: "GET", path, answer: Events, signal });
  }
}

function instancePath(id: string): string {
  return `/v1/instances/${encodeURIComponent(id)}`;
}

function loadBalancerPath(id: string): string {
  return `/v1/load-balancers/${encodeURIComponent(id)}`;
}
