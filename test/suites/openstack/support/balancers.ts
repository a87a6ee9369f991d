import { type LoadBalancer, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type ProviderClient, serviceRef } from "@cloudwire/provider-sdk/testing";
import { eventually } from "../../../support/eventually.ts";
import { type DesiredLoadBalancer, requestOf } from "../replay/scenarios/desired.ts";
import type { Server } from "./tenant.ts";

/** Octavia makes a load balancer in many steps. */
const SETTLED_MS = 240_000;

/** Load balancers as the controller requests them. */
export class Balancers {
  readonly #client: ProviderClient;

  constructor(client: ProviderClient) {
    this.#client = client;
  }

  /** Asks as the controller does: again while it is under way. Answers the address that is reported on the Service. */
  async ensure(desired: DesiredLoadBalancer): Promise<string | undefined> {
    const payload = requestOf(desired);
    const settled = await settledBalancer(
      async () => (await this.#client.ensureLoadBalancer(payload)).loadBalancer,
      ({ specFingerprint }) => specFingerprint === payload.specFingerprint,
    );
    return settled.ingress?.items[0]?.ip;
  }

  async updateNodes(service: string, servers: readonly Server[]): Promise<void> {
    const { nodes } = requestOf({ ports: [], nodes: servers.map((server) => ({ ...server })), version: "" });
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
  isUpToDate: (loadBalancer: LoadBalancer) => boolean,
): Promise<LoadBalancer> {
  return eventually("the load balancer to match the spec", SETTLED_MS, async () => {
    const loadBalancer = await ask();
    const isDone = loadBalancer?.phase === LoadBalancerPhase.ACTIVE && isUpToDate(loadBalancer);
    return isDone ? loadBalancer : undefined;
  });
}
