import { NETWORK_UNAVAILABLE } from "../../../src/api/node.ts";
import type { NodeInput } from "../../../src/controllers/route/plan.ts";
import type { Refusal } from "../../../src/controllers/route/plan/claims.ts";
import type { KnownRoute } from "../../../src/controllers/route/route-table.ts";
import { type Cidr, parseCidr } from "../../../src/util/cidr.ts";
import { node as nodeOf } from "../builders.ts";

export function range(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
}

interface RouteParts {
  readonly id?: string;
  readonly target?: string;
  readonly node?: string;
  readonly blackhole?: boolean;
  readonly madeFor?: string;
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
}

export function route(cidr: string, parts: RouteParts = {}): KnownRoute {
  const { id = `id-${cidr}`, target = "acme://a", node = "a", blackhole = false, madeFor = "", addresses = [] } = parts;
  return {
    cidr: range(cidr),
    nodeName: node,
    madeFor,
    route: {
      id,
      nameHint: "hint",
      targetProviderId: target,
      targetNodeName: node,
      destinationCidr: cidr,
      targetAddresses: addresses,
      blackhole,
    },
  };
}

export const ADDRESS = { type: "InternalIP", address: "192.0.2.1" };
export const OTHER_ADDRESS = { type: "ExternalIP", address: "198.51.100.1" };
export const ROUTED = { type: NETWORK_UNAVAILABLE, status: "False", reason: "RouteCreated", lastTransitionTimeMs: 0 };

export interface Parts {
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly conditions?: readonly (typeof ROUTED)[];
  readonly addresses?: readonly (typeof ADDRESS)[];
  readonly complete?: boolean;
  readonly claimants?: Readonly<Record<string, string>>;
  /** CIDRs of other Nodes. */
  readonly claimed?: readonly string[];
  readonly refusals?: Readonly<Record<string, Refusal>>;
  readonly capability?: Partial<NodeInput["target"]["capability"]>;
  readonly clusterCidrs?: readonly string[];
}

export function input(routes: readonly KnownRoute[], parts: Parts = {}): NodeInput {
  const { podCIDRs = ["10.120.1.0/24"], providerID = "acme://a", conditions = [], complete = true } = parts;
  const {
    addresses = [ADDRESS],
    claimants = {},
    claimed = [],
    refusals = {},
    capability = {},
    clusterCidrs = ["10.120.0.0/16", "fd00::/48"],
  } = parts;
  return {
    kind: "node",
    node: nodeOf("a", { spec: { podCIDRs, providerID }, status: { addresses, conditions } }),
    provider: "acme",
    target: {
      prefixes: ["acme://", "old://"],
      addresses,
      capability: {
        maxBatchSize: 100,
        maxPageSize: 100,
        blackhole: true,
        targetAddresses: false,
        validateOnly: false,
        ipFamilies: ["IPv4", "IPv6"],
        ...capability,
      },
    },
    rules: { clusterCidrs: clusterCidrs.map(range) },
    complete,
    own: routes.filter(({ nodeName }) => nodeName === "a"),
    to: ({ text }) => routes.filter(({ cidr }) => cidr.text === text),
    claimant: ({ route: { id } }) => claimants[id],
    isOthers: ({ text }) => claimed.includes(text),
    refuse: ({ text }) => refusals[text],
  };
}
