import { type Cluster, ProviderError } from "@cloudwire/provider-sdk";
import { Type } from "typebox";
import { isStatus } from "../cloud/errors.ts";
import type { CallScope } from "../cloud/keystone.ts";
import type { OpenStack } from "../cloud/openstack.ts";
import type { ExtraRoute } from "./plan.ts";

const routerSchema = Type.Object({
  router: Type.Object({
    routes: Type.Array(Type.Object({ destination: Type.String(), nexthop: Type.String() })),
    tags: Type.Array(Type.String()),
  }),
});

const anything = Type.Unknown();

/** Without a slash, because a tag is part of request paths. Old versions of Neutron allow 60 characters, including the UUID. */
const ownerPrefix = "cloudwire-cluster-id=";

/** A router's routes, and the owner of those to pod CIDRs. */
export interface ReadRouter {
  readonly routes: readonly ExtraRoute[];
  /** Undefined: none. */
  readonly owner: string | undefined;
}

/** The router of the cluster's nodes. Changes use Neutron's extension extraroute-atomic, so concurrent changes of others are not lost. */
export class Router {
  readonly id: string;
  readonly #openStack: OpenStack;

  constructor(openStack: OpenStack, id: string) {
    this.id = id;
    this.#openStack = openStack;
  }

  async read(callScope: CallScope): Promise<ReadRouter> {
    const { router } = await this.#read(callScope);
    const owner = router.tags.find((tag) => tag.startsWith(ownerPrefix))?.slice(ownerPrefix.length);
    return { routes: router.routes, owner };
  }

  async #read(callScope: CallScope) {
    try {
      return await this.#openStack.get(callScope, "network", `/routers/${this.id}`, routerSchema);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      const message = `the project has no router ${this.id}: check --router`;
      throw new ProviderError("CLOUD_SETUP_INVALID", message, { cause: error });
    }
  }

  async add(routes: readonly ExtraRoute[], callScope: CallScope): Promise<void> {
    await this.#change("add_extraroutes", routes, callScope);
  }

  /** Routes that are not there are no fault. */
  async remove(routes: readonly ExtraRoute[], callScope: CallScope): Promise<void> {
    await this.#change("remove_extraroutes", routes, callScope);
  }

  /** From now on the routes to pod CIDRs are the cluster's. */
  async claim({ id }: Cluster, callScope: CallScope): Promise<void> {
    await this.#openStack.send(callScope, "network", "PUT", this.#tagPath(id), {}, anything);
  }

  /** The last of the cluster's routes has gone. */
  async release({ id }: Cluster, callScope: CallScope): Promise<void> {
    await this.#openStack.delete(callScope, "network", this.#tagPath(id));
  }

  #tagPath(clusterId: string): string {
    return `/routers/${this.id}/tags/${encodeURIComponent(ownerPrefix + clusterId)}`;
  }

  async #change(action: string, routes: readonly ExtraRoute[], callScope: CallScope): Promise<void> {
    const body = { router: { routes } };
    await this.#openStack.send(callScope, "network", "PUT", `/routers/${this.id}/${action}`, body, anything);
  }
}
