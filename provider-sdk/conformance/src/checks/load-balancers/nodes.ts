import type { LoadBalancer } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Check } from "../../suite/check.ts";
import { ruleProblems } from "../../contract/field-rules.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { fixtureNode, inline, lifeMs, type TestBalancer, withBalancer } from "./test-balancer.ts";
import { expectPresent } from "./load-balancers.ts";

const base = {
  level: "M",
  profile: "loadbalancer",
  exclusive: true,
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active"],
} as const;

const expectNodes = async (balancer: TestBalancer, fingerprint: string, count: number): Promise<LoadBalancer> => {
  const got = await expectPresent(balancer, "the load balancer is gone");
  // Not every cloud reports how many are registered.
  const reported = [got.nodesFingerprint, got.registeredNodes ?? count];
  if (show(reported) !== show([fingerprint, count]))
    fail({ message: "its nodes are others", expected: show([fingerprint, count]), got: show(reported) });
  return got;
};

/** The nodes of load balancers. */
export const balancerNodeChecks: readonly Check[] = [
  {
    ...base,
    id: "lb.nodes.ensure",
    title: "Ensure makes the targets be the nodes that it names, and takes the others out",
    rules: ["LB-2", "LB-4"],
    why: "A deleted node that stays a target receives connections that fail.",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        for (const nodes of [inline(fixtureNode(context)), inline()]) {
          await balancer.converge({ nodes });
          await expectNodes(balancer, nodes.fingerprint ?? "", nodes.count ?? 0);
        }
      }),
  },
  {
    ...base,
    id: "lb.nodes.unknown-node",
    title: "a node without an instance is named and not acknowledged; the others are registered",
    rules: ["LB-7", "LB-19"],
    why: "One instance that is missing must not delay the others, and becomes a target when it is back.",
    fixtures: ["instance", "absentProviderId"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const node = fixtureNode(context);
        const providerId = context.fixtures.absentProviderId ?? "";
        const gone = { ...node, name: "conformance-gone", providerId, addresses: [] };
        const nodes = inline(node, gone);
        const reported: string[] = [];
        const made = await balancer.converge({ nodes }, (called) => {
          if (called.kind === "ok") reported.push(...called.response.diagnostics.map(({ reason }) => reason));
        });
        const missing = made.unregisteredNodes.map(({ name }) => name);
        if (missing.length === 0 && reported.length === 0)
          fail({
            message: `nothing reports that the instance of node ${gone.name} is missing`,
            expected: "the node in unregistered_nodes, or a diagnostic if it can never be a target",
            got: "neither",
          });
        if (missing.length > 0) {
          const read = await expectPresent(balancer, "the load balancer is gone");
          const problems = made.unregisteredNodes.flatMap((one) =>
            ruleProblems("cloudprovider.v1.UnregisteredNode", one),
          );
          expectNone(problems, "unregistered nodes are not whole");
          const got = show([missing, made.nodesFingerprint, read.nodesFingerprint === nodes.fingerprint]);
          const expected = show([[gone.name], "", false]);
          if (got !== expected)
            fail({ message: "nodes that are not all targets are acknowledged, or others are named", expected, got });
        }
        if ((made.registeredNodes ?? 1) !== 1)
          fail({ message: "the other node is not registered", expected: "1", got: String(made.registeredNodes) });
      }),
  },
  {
    ...base,
    id: "lb.nodes.previous-observed",
    title: "UpdateLoadBalancerNodes returns the observed_fingerprint of before the change, if any",
    rules: ["LB-21"],
    why: "Another value is a change by another client, and is repaired; the value after the change hides one.",
    capability: "load_balancers.update_nodes",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const { observedFingerprint: expected } = await balancer.converge();
        const called = await balancer.updateNodes(inline(fixtureNode(context)));
        const got = expectOk(called, "other nodes").response.loadBalancer?.previousObservedFingerprint ?? "";
        if (got !== "" && got !== expected) fail({ message: "it is another", expected, got });
      }),
  },
  {
    ...base,
    id: "lb.nodes.update",
    title: "UpdateLoadBalancerNodes changes the targets and nothing else",
    rules: ["LB-8"],
    why: "It is how nodes come and go: what else it touches, it touches at every scaling.",
    capability: "load_balancers.update_nodes",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const before = await balancer.converge();
        const nodes = inline(fixtureNode(context));
        await balancer.convergeNodes(nodes);
        const after = await expectNodes(balancer, nodes.fingerprint ?? "", 1);
        const of = (one: LoadBalancer) => show([one.id, one.specFingerprint, one.ingress]);
        if (of(after) !== of(before)) fail({ message: "more has changed", expected: of(before), got: of(after) });
        // The same again finds nothing to do.
        const { response } = expectOk(await balancer.updateNodes(nodes), "the same nodes again");
        const { cloudMutations = 0 } = response.stats ?? {};
        if (cloudMutations > 0)
          fail({
            message: "the same nodes are written again",
            expected: "no change in the cloud",
            got: show(response.stats),
          });
      }),
  },
  {
    ...base,
    id: "lb.nodes.unchanged-mismatch",
    title: "`unchanged` at another fingerprint is NODES_FINGERPRINT_MISMATCH and changes nothing",
    rules: ["LB-9", "NST-1"],
    why: "Taken on trust, it leaves targets that the cluster no longer has.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const nodes = { fingerprint: "another", count: 0, source: { $case: "unchanged", value: {} } } as const;
        const wanted = { codes: [9], reasons: ["NODES_FINGERPRINT_MISMATCH"] };
        expectError(await balancer.ensure({ nodes }), wanted, "`unchanged` at a fingerprint that no client has sent");
        await expectNodes(balancer, balancer.nodes.fingerprint ?? "", balancer.nodes.count ?? 0);
      }),
  },
  {
    ...base,
    id: "lb.nodes.count",
    title: "a number of nodes that does not fit is NODE_SET_INTEGRITY and changes nothing",
    rules: ["LB-9"],
    why: "A truncated list is not a request for fewer nodes.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const nodes = { ...inline(), fingerprint: "another", count: 3 };
        expectError(
          await balancer.ensure({ nodes }),
          { codes: [15], reasons: ["NODE_SET_INTEGRITY"] },
          "3 nodes that are 0",
        );
        await expectNodes(balancer, balancer.nodes.fingerprint ?? "", balancer.nodes.count ?? 0);
      }),
  },
];
