import { type LoadBalancer, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import { type Wished, wishOf } from "../replay/scenarios/wish.ts";
import type { Server } from "./tenant.ts";

/** Octavia makes a load balancer in many steps. */
const SETTLED_MS = 240_000;

/** Load balancers as the controller wishes them. */
export class Balancers {
  readonly #client: ProviderClient;

  constructor(client: ProviderClient) {
    this.#client = client;
  }

  /** Asks as the controller does: again while it is under way. Answers the address that the Service is told. */
  async ensure(wished: Wished): Promise<string | undefined> {
    const wish = wishOf(wished);
    const settled = await settledBalancer(
      async () => (await this.#client.ensureLoadBalancer(wish)).loadBalancer,
      ({ specFingerprint }) => specFingerprint === wish.specFingerprint,
    );
    return settled.ingress?.items[0]?.ip;
  }

  async updateNodes(service: string, servers: readonly Server[]): Promise<void> {
    const { nodes } = wishOf({ ports: [], nodes: servers.map((server) => ({ ...server })), version: "" });
    const request = { service: serviceRef(service), nodes };
    await settledBalancer(
      async () => (await this.#client.updateLoadBalancerNodes(request)).loadBalancer,
      ({ nodesFingerprint }) => nodesFingerprint === nodes.fingerprint,
    );
  }

  async delete(service: string): Promise<void> {
    await eventually(`the load balancer of ${service} to be gone`, SETTLED_MS, async () =>
      (await this.#client.deleteLoadBalancer({ service: serviceRef(service) })).done ? true : undefined,
    );
  }
}

async function settledBalancer(
  ask: () => Promise<LoadBalancer | undefined>,
  isAsWished: (loadBalancer: LoadBalancer) => boolean,
): Promise<LoadBalancer> {
  return eventually("the load balancer to be as wished", SETTLED_MS, async () => {
    const loadBalancer = await ask();
    const isDone = loadBalancer?.phase === LoadBalancerPhase.ACTIVE && isAsWished(loadBalancer);
    return isDone ? loadBalancer : undefined;
  });
}
