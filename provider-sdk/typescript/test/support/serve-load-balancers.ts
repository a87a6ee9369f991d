import type { GetLoadBalancer, LoadBalancer, LoadBalancerHandlers } from "../../src/definition/load-balancers.ts";
import { absent } from "../../src/results/results.ts";
import { basics, context, serveForTest } from "./serve-for-test.ts";

/** A load balancer that is in service. */
export const active = ({ key }: { readonly key: string }): LoadBalancer => ({
  id: key,
  ingress: [{ ip: "192.0.2.1" }],
});

const handlers = {
  get: () => absent("LOOKUP_MISS"),
  ensure: active,
  delete: () => undefined,
} satisfies LoadBalancerHandlers;

type WithGet = Extract<LoadBalancerHandlers, { readonly get: GetLoadBalancer }>;

/** A provider of load balancers, changed where the test says, until the test ends. */
export const served = (loadBalancers: Partial<WithGet> = {}) =>
  serveForTest({ ...basics, loadBalancers: { ...handlers, ...loadBalancers } });

/** Whose load balancer is asked for. */
export const service = { namespace: "default", name: "web", uid: "uid-1" };

/** A node that takes traffic. */
export const target = (index: number) => ({
  name: `n${index}`,
  providerId: `acme://i-${index}`,
  addresses: [{ type: 1 as const, address: `10.0.0.${index}` }],
});

/** Nodes as they are sent inside of a change. */
export const inline = (fingerprint: string, ...indexes: readonly number[]) => ({
  fingerprint,
  count: indexes.length,
  source: { $case: "inline" as const, value: { nodes: indexes.map(target) } },
});

let changes = 0;

/** A change of its own, or the one that is named. */
export const change = (requestId = `r-${++changes}`) => ({ requestId });

/** A valid request; the change comes with each call. */
export const ensureRequest = {
  context,
  service,
  spec: { ports: [{ protocol: 1 as const, port: 80, nodePort: 30_080 }] },
  specFingerprint: "spec-1",
  nodes: inline("nodes-1", 1, 2),
};
