import { ProviderError } from "@cloudwire/provider-sdk";
import { type Static, Type } from "typebox";
import type { CallScope } from "../cloud/keystone.ts";
import { isStatus } from "../cloud/errors.ts";
import type { OpenStack, Query } from "../cloud/openstack.ts";
import { hasNext, readAll } from "../cloud/pages.ts";

const floatingIpSchema = Type.Object({
  id: Type.String(),
  floating_ip_address: Type.String(),
  port_id: Type.Union([Type.String(), Type.Null()]),
  description: Type.String(),
});

const answerSchema = Type.Object({ floatingip: floatingIpSchema });

const listSchema = Type.Object({
  floatingips: Type.Array(floatingIpSchema),
  floatingips_links: Type.Optional(Type.Array(Type.Object({ rel: Type.String() }))),
});

export type FloatingIp = Static<typeof floatingIpSchema>;

/** Floating IPs of Neutron. The description marks those of the provider, and is set on creation. */
export class FloatingIps {
  readonly #openStack: OpenStack;

  constructor(openStack: OpenStack) {
    this.#openStack = openStack;
  }

  async list(filter: Query, callScope: CallScope): Promise<readonly FloatingIp[]> {
    return readAll(async (marker) => {
      const query = { ...filter, limit: 1000, marker };
      const page = await this.#openStack.get(callScope, "network", "/floatingips", listSchema, query);
      return { items: page.floatingips, hasNext: hasNext(page.floatingips_links) };
    });
  }

  async create(fields: object, callScope: CallScope): Promise<FloatingIp> {
    const body = { floatingip: fields };
    try {
      return (await this.#openStack.send(callScope, "network", "POST", "/floatingips", body, answerSchema)).floatingip;
    } catch (error) {
      if (!isStatus(error, 404) || !(error instanceof ProviderError)) throw error;
      const message = `${error.message}: check --floating-network and the annotations for it, and that a router connects it with the load balancer's subnet`;
      throw new ProviderError("CLOUD_SETUP_INVALID", message, { cause: error.cause });
    }
  }

  /** @param portId null: detach it */
  async associate(id: string, portId: string | null, callScope: CallScope): Promise<FloatingIp> {
    const body = { floatingip: { port_id: portId } };
    return (await this.#openStack.send(callScope, "network", "PUT", `/floatingips/${id}`, body, answerSchema))
      .floatingip;
  }

  async delete(id: string, callScope: CallScope): Promise<void> {
    try {
      await this.#openStack.delete(callScope, "network", `/floatingips/${id}`);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
    }
  }
}

/** The action for the floating IP. */
export type FloatingStep =
  | { readonly kind: "keep"; readonly floatingIp: FloatingIp }
  | { readonly kind: "associate"; readonly floatingIp: FloatingIp }
  | { readonly kind: "create" }
  | { readonly kind: "refuse"; readonly problem: ProviderError };

/** @param present those of the port, those with the ownership description, and the one that has the wanted address */
export function planFloatingIp(
  wanted: string | undefined,
  present: readonly FloatingIp[],
  portId: string,
  ownDescription: string,
): FloatingStep {
  const fits = ({ floating_ip_address: address }: FloatingIp): boolean => wanted === undefined || address === wanted;
  const own = present.find((each) => each.port_id === portId && fits(each));
  if (own) return { kind: "keep", floatingIp: own };
  if (wanted !== undefined) {
    const named = present.find(fits);
    if (named === undefined) return { kind: "create" };
    if (named.port_id === null) return { kind: "associate", floatingIp: named };
    const message = `the floating IP ${wanted} is in use at port ${named.port_id}: use another address, or detach it`;
    return {
      kind: "refuse",
      problem: new ProviderError("ADDRESS_IN_USE", message, { field: "spec.requested_ips[0]" }),
    };
  }
  const made = present.find((each) => each.description === ownDescription && each.port_id === null);
  return made ? { kind: "associate", floatingIp: made } : { kind: "create" };
}

/** The description of a floating IP that the provider has made. */
export function ownershipDescription(clusterId: string, serviceUid: string): string {
  return `cloudwire.dev/cluster-id=${clusterId} cloudwire.dev/service-uid=${serviceUid}`;
}
