import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { failedWith } from "../../../test/support/explain/explain-builders.ts";
import { idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import { NETWORK_UNAVAILABLE, type NodeSpec } from "../../api/node.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import { failureOf } from "../../controllers/route/failure.ts";
import { evaluateRoute, type RouteFacts } from "./route.ts";
import { cause } from "../reasons/reasons.ts";

const ROUTES = {
  maxBatchSize: 100,
  maxPageSize: 100,
  blackhole: false,
  targetAddresses: false,
  validateOnly: false,
  ipFamilies: ["IPv4"],
} as const;
const routing = info({ capabilities: { routes: ROUTES } });
const OWNED: NodeOwner = { kind: "owned", provider: idleProvider("east", routing), info: routing };
const plainInfo = info();
const PLAIN: NodeOwner = { kind: "owned", provider: idleProvider("west", plainInfo), info: plainInfo };

function w1(spec: Partial<NodeSpec>, network?: "True" | "False") {
  const conditions =
    network === undefined
      ? []
      : [{ type: NETWORK_UNAVAILABLE, status: network, lastTransitionTimeMs: 0, reason: "" } as const];
  return node("w1", { spec: { providerID: "acme://1", podCIDRs: ["10.1.0.0/24"], ...spec }, status: { conditions } });
}

function facts(parts: Partial<RouteFacts>): RouteFacts {
  return { node: w1({}, "False"), owner: OWNED, troubles: [], last: undefined, ...parts };
}

function refused(rejection: "overlap" | "family") {
  const failure = { cidr: "10.1.0.0/24", nameHint: "h", rejection, message: "so it is", error: undefined };
  return failedWith(failureOf("w1", [{ ...failure, isTargetGone: false }], 1));
}

describe("evaluateRoute()", () => {
  test.each<{ what: string; of: RouteFacts; state: string; reasons: readonly string[] }>([
    { what: "is routed", of: facts({}), state: "ok", reasons: [] },
    {
      what: "is routed while its provider is away",
      of: facts({ troubles: [cause("ProviderUnavailable")] }),
      state: "ok",
      reasons: [],
    },
    { what: "is new", of: facts({ node: w1({}) }), state: "progressing", reasons: [] },
    {
      what: "has no owner",
      of: facts({ owner: { kind: "unowned", why: "x" } }),
      state: "unmanaged",
      reasons: ["NodeUnowned"],
    },
    {
      what: "has a provider without routes",
      of: facts({ owner: PLAIN }),
      state: "unmanaged",
      reasons: ["RoutesNotSupported"],
    },
    { what: "has no range", of: facts({ node: w1({ podCIDRs: [] }) }), state: "waiting", reasons: ["NoPodCIDR"] },
    {
      what: "has no provider ID",
      of: facts({ node: w1({ providerID: "" }) }),
      state: "waiting",
      reasons: ["NoProviderID"],
    },
    {
      what: "finds the table full",
      of: facts({ node: w1({}, "True"), last: failedWith(contractError("QUOTA_EXCEEDED", "50 of 50")) }),
      state: "blocked",
      reasons: ["RouteTableFull"],
    },
    {
      what: "has a pod CIDR that conflicts in the cloud",
      of: facts({ node: w1({}, "True"), last: failedWith(contractError("CIDR_CONFLICT", "10.1.0.0/24")) }),
      state: "blocked",
      reasons: ["CIDRConflict"],
    },
    {
      what: "finds its range taken by another Node",
      of: facts({ node: w1({}, "True"), last: refused("overlap") }),
      state: "blocked",
      reasons: ["CIDRConflict"],
    },
    {
      what: "has a range of another family",
      of: facts({ node: w1({ podCIDRs: ["fd00::/64"] }, "True"), last: refused("family") }),
      state: "blocked",
      reasons: ["FeatureUnsupported"],
    },
    {
      what: "says that it has none, to a replica that does not lead",
      of: facts({ node: w1({}, "True"), troubles: [cause("CloudUnavailable")] }),
      state: "waiting",
      reasons: ["RouteMissing", "CloudUnavailable"],
    },
  ])("of one that $what", ({ of, state, reasons }) => {
    const { causes, ...rest } = evaluateRoute(of);
    expect({ state: rest.state, reasons: causes.map(({ reason }) => reason) }).toEqual({ state, reasons });
  });

  test("reports existing routes", () => {
    expect(evaluateRoute(facts({}))).toEqual({
      state: "ok",
      summary: "The routes of the Node exist: 10.1.0.0/24.",
      causes: [],
      desired: [{ description: "route to 10.1.0.0/24", state: "met" }],
    });
  });
});
