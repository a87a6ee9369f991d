import { type Static, Type } from "typebox";
import type { CallScope } from "../cloud/keystone.ts";
import type { OpenStack } from "../cloud/openstack.ts";
import { hasNext, readAll } from "../cloud/pages.ts";

const ids = Type.Array(Type.Object({ id: Type.String() }));
const links = Type.Optional(Type.Array(Type.Object({ rel: Type.String() })));
const nullableText = Type.Union([Type.String(), Type.Null()]);

const balancerSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  provisioning_status: Type.String(),
  operating_status: Type.String(),
  vip_address: nullableText,
  vip_port_id: nullableText,
  vip_subnet_id: nullableText,
  vip_network_id: Type.Optional(nullableText),
  flavor_id: Type.Optional(nullableText),
  availability_zone: Type.Optional(nullableText),
  listeners: ids,
  pools: ids,
  tags: Type.Array(Type.String()),
});

const listenerSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    protocol: Type.String(),
    protocol_port: Type.Number(),
    default_pool_id: nullableText,
    allowed_cidrs: Type.Union([Type.Array(Type.String()), Type.Null()]),
    insert_headers: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
    loadbalancers: ids,
  },
  { additionalProperties: true },
);

const poolSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  protocol: Type.String(),
  session_persistence: Type.Union([
    Type.Object({
      type: Type.String(),
      persistence_timeout: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    }),
    Type.Null(),
  ]),
  healthmonitor_id: Type.Optional(nullableText),
  loadbalancers: ids,
  members: ids,
});

const memberSchema = Type.Object({
  id: Type.String(),
  name: nullableText,
  address: Type.String(),
  protocol_port: Type.Number(),
  subnet_id: Type.Optional(nullableText),
  monitor_port: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
});

const monitorSchema = Type.Object({
  id: Type.String(),
  type: Type.String(),
  delay: Type.Number(),
  timeout: Type.Number(),
  max_retries: Type.Number(),
  max_retries_down: Type.Optional(Type.Number()),
  url_path: Type.Optional(nullableText),
  pools: ids,
});

export const balancerAnswerSchema = Type.Object({ loadbalancer: balancerSchema });
const balancerListSchema = Type.Object({ loadbalancers: Type.Array(balancerSchema), loadbalancers_links: links });
const listenerListSchema = Type.Object({ listeners: Type.Array(listenerSchema), listeners_links: links });
const poolListSchema = Type.Object({ pools: Type.Array(poolSchema), pools_links: links });
const memberListSchema = Type.Object({ members: Type.Array(memberSchema), members_links: links });
const monitorListSchema = Type.Object({ healthmonitors: Type.Array(monitorSchema), healthmonitors_links: links });

export type Balancer = Static<typeof balancerSchema>;
export type Listener = Static<typeof listenerSchema>;
export type Pool = Static<typeof poolSchema>;
export type Member = Static<typeof memberSchema>;
export type Monitor = Static<typeof monitorSchema>;

/** All parts of one load balancer. */
export interface Parts {
  readonly listeners: readonly Listener[];
  readonly pools: readonly Pool[];
  /** By the ids of their pools. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
  readonly monitors: ReadonlyMap<string, Monitor>;
}

const service = "load-balancer";

/** Reads Octavia's objects. */
export class OctaviaReader {
  readonly #openStack: OpenStack;

  constructor(openStack: OpenStack) {
    this.#openStack = openStack;
  }

  async balancer(id: string, callScope: CallScope): Promise<Balancer> {
    return (await this.#openStack.get(callScope, service, `/lbaas/loadbalancers/${id}`, balancerAnswerSchema))
      .loadbalancer;
  }

  /** Load balancers that are not deleted; Octavia returns those for a while. */
  async balancers(
    filter: { readonly name?: string; readonly tags?: string },
    callScope: CallScope,
  ): Promise<readonly Balancer[]> {
    const all = await readAll(async (marker) => {
      const query = { ...filter, marker };
      const page = await this.#openStack.get(callScope, service, "/lbaas/loadbalancers", balancerListSchema, query);
      return { items: page.loadbalancers, hasNext: hasNext(page.loadbalancers_links) };
    });
    return all.filter(({ provisioning_status: status }) => status !== "DELETED");
  }

  /** @param balancerId undefined: of all load balancers of the project */
  async listeners(balancerId: string | undefined, callScope: CallScope): Promise<readonly Listener[]> {
    return readAll(async (marker) => {
      const query = { loadbalancer_id: balancerId, marker };
      const page = await this.#openStack.get(callScope, service, "/lbaas/listeners", listenerListSchema, query);
      return { items: page.listeners, hasNext: hasNext(page.listeners_links) };
    });
  }

  /** @param balancerId undefined: of all load balancers of the project */
  async pools(balancerId: string | undefined, callScope: CallScope): Promise<readonly Pool[]> {
    return readAll(async (marker) => {
      const query = { loadbalancer_id: balancerId, marker };
      const page = await this.#openStack.get(callScope, service, "/lbaas/pools", poolListSchema, query);
      return { items: page.pools, hasNext: hasNext(page.pools_links) };
    });
  }

  async members(poolId: string, callScope: CallScope): Promise<readonly Member[]> {
    return readAll(async (marker) => {
      const path = `/lbaas/pools/${poolId}/members`;
      const page = await this.#openStack.get(callScope, service, path, memberListSchema, { marker });
      return { items: page.members, hasNext: hasNext(page.members_links) };
    });
  }

  async parts(balancerId: string, callScope: CallScope): Promise<Parts> {
    const [listeners, pools] = await Promise.all([
      this.listeners(balancerId, callScope),
      this.pools(balancerId, callScope),
    ]);
    const members = new Map<string, readonly Member[]>();
    const monitors = new Map<string, Monitor>();
    for (const { id, healthmonitor_id: monitorId } of pools) {
      members.set(id, await this.members(id, callScope));
      const [monitor] = monitorId ? await this.#monitors(id, callScope) : [];
      if (monitor) monitors.set(id, monitor);
    }
    return { listeners, pools, members, monitors };
  }

  async #monitors(poolId: string, callScope: CallScope): Promise<readonly Monitor[]> {
    const query = { pool_id: poolId };
    const page = await this.#openStack.get(callScope, service, "/lbaas/healthmonitors", monitorListSchema, query);
    return page.healthmonitors;
  }
}
