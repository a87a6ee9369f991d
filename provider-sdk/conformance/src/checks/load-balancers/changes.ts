import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { ruleProblems } from "../../contract/field-rules.ts";
import { methods } from "../../contract/methods.ts";
import { fixtureNode, inline, lifeMs, TestBalancer, withBalancer } from "./test-balancer.ts";
import { expectPresent } from "./load-balancers.ts";

const base = {
  level: "M",
  profile: "loadbalancer",
  exclusive: true,
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active"],
} as const;

const stale = { codes: [10], reasons: ["STALE_GENERATION"] } as const;

const nodeUpdates = "load_balancers.update_nodes";

const superseded: readonly Check[] = [
  {
    ...base,
    id: "lb.delete.stale",
    title: "a deletion with a smaller sequence is refused with STALE_GENERATION and deletes nothing",
    rules: ["LB-5"],
    why: "A controller that was replaced and does not know yet would delete what its successor has made.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge({ change: { sequence: 20n } });
        expectError(await balancer.deleteOnce({ sequence: 10n }), stale, "a deletion that was superseded");
        await expectPresent(balancer, "it was deleted anyway");
      }),
  },
  {
    ...base,
    id: "lb.nodes.stale",
    title: "nodes with a smaller sequence are refused with STALE_GENERATION and change nothing",
    rules: ["LB-5"],
    why: "Nodes that have gone would come back as targets.",
    capability: nodeUpdates,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const { nodesFingerprint } = await balancer.converge({ change: { sequence: 20n } });
        const nodes = { ...inline(), fingerprint: "superseded" };
        expectError(await balancer.updateNodes(nodes, { sequence: 10n }), stale, "nodes that were superseded");
        const after = await expectPresent(balancer, "it is gone");
        if (after.nodesFingerprint !== nodesFingerprint)
          fail({ message: "its nodes are others", expected: nodesFingerprint, got: after.nodesFingerprint });
      }),
  },
];

const repeated: readonly Check[] = [
  {
    ...base,
    id: "lb.delete.request-id",
    title: "a request_id of a deletion that comes again is answered, not refused",
    rules: ["RPC-1"],
    why: "The answer was lost; the Service must not hang because of it.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const change = { requestId: "conformance-delete-again" };
        for (let times = 0; times < 3; times++)
          expectOk(await balancer.deleteOnce(change), "a deletion whose request_id came before");
      }),
  },
  {
    ...base,
    id: "lb.nodes.request-id",
    title: "a request_id of an update of nodes that comes again is answered, not refused",
    rules: ["RPC-1"],
    why: "The answer was lost; the nodes are as they were asked for.",
    capability: nodeUpdates,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const nodes = { ...inline(), fingerprint: "again" };
        const change = { requestId: "conformance-nodes-again" };
        for (let times = 0; times < 3; times++)
          expectOk(await balancer.updateNodes(nodes, change), "an update whose request_id came before");
      }),
  },
];

const protecting: readonly Check[] = [
  {
    ...base,
    id: "lb.delete.protected",
    title:
      "a protected load balancer is not deleted: DELETION_PROTECTED; without the field the protection does not change",
    rules: ["LB-15"],
    why: "It is protected because the deletion of its Service is most likely a mistake.",
    capability: "load_balancers.deletion_protection",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const wanted = { codes: [9], reasons: ["DELETION_PROTECTED"] };
        await balancer.converge({ spec: { deletionProtection: true } });
        try {
          expectError(await balancer.deleteOnce(), wanted, "the deletion of a protected one");
          await expectPresent(balancer, "it was deleted anyway");
          await balancer.converge();
          expectError(await balancer.deleteOnce(), wanted, "the deletion after a spec that does not mention it");
        } finally {
          await balancer.converge({ spec: { deletionProtection: false } });
        }
        await balancer.remove();
      }),
  },
];

/** A class that no provider serves, and an annotation that no provider declared. */
const hints = { class: "conformance.example.com/none", annotations: { "conformance.example.com/x": "y" } };
const reading = { level: "R", profile: "loadbalancer", rules: ["LB-16"], timeoutMs: 70_000 } as const;

const hinting: readonly Check[] = [
  {
    ...reading,
    id: "lb.get.hints",
    title: "a class and annotations that are wrong do not make Get fail",
    why: "A caller with an invalid hint would never see the load balancer.",
    run: async (context) => {
      const { service } = new TestBalancer(context);
      const request = { context: context.callContext, service, operationId: "conformance-lost", ...hints };
      const called = await context.caller.call(methods.getLoadBalancer, request);
      const { outcome } = expectOk(called, "a read with wrong hints").response;
      if (outcome?.$case !== "absent")
        fail({ message: "it is not absent", got: show(outcome), exchange: called.exchange });
    },
  },
  {
    ...reading,
    id: "lb.delete.hints",
    title: "a class, annotations and an id that are wrong do not make a deletion fail",
    why: "A Service that was misspelled could never be deleted.",
    run: async (context) => {
      const more = { ...hints, loadBalancerId: "conformance-none", operationId: "conformance-lost" };
      const called = await new TestBalancer(context).deleteOnce({}, more);
      const { response } = expectOk(called, "a deletion with wrong hints");
      if (!response.done) fail({ message: "it is not done", got: show(response), exchange: called.exchange });
    },
  },
  {
    ...reading,
    id: "lb.nodes.hints",
    title: "a class and annotations that are wrong are no reason to refuse nodes",
    why: "Nodes that have gone would stay targets.",
    capability: nodeUpdates,
    run: async (context) => {
      const { service } = new TestBalancer(context);
      const change = { requestId: "conformance-hints", trigger: "conformance" };
      const request = { context: context.callContext, change, service, nodes: inline(), ...hints };
      const called = await context.caller.call(methods.updateLoadBalancerNodes, request);
      expectError(called, { codes: [5], reasons: ["LOAD_BALANCER_NOT_FOUND"] }, "nodes of nothing, with wrong hints");
    },
  },
];

const validating = { ...base, rules: ["RPC-3"], capability: "load_balancers.validate_only" } as const;
const only = { validateOnly: true } as const;

const planned = (called: Called<{ readonly plannedChanges: readonly unknown[] }>): readonly unknown[] =>
  expectOk(called, "a question").response.plannedChanges;

const asking: readonly Check[] = [
  {
    ...validating,
    id: "lb.validate.plan",
    rules: ["RPC-3", "LB-20"],
    title: "validate_only reports what would change, and nothing if nothing would",
    why: "An operator who sees no change goes ahead.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = planned(await balancer.ensure({ change: only }));
        if (first.length === 0) fail({ message: "a missing one would be created, and the plan does not report it" });
        const problems = first.flatMap((change) => ruleProblems("cloudprovider.v1.PlannedChange", change));
        expectNone(problems, "planned changes are not whole");
        await balancer.converge();
        const left = planned(await balancer.ensure({ change: only }));
        if (left.length > 0) fail({ message: "it matches the spec, and changes are reported", got: show(left) });
      }),
  },
  {
    ...validating,
    id: "lb.validate.delete",
    title: "validate_only deletes nothing",
    why: "Who asks what a deletion would take does not want it to happen.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        expectOk(await balancer.deleteOnce(only), "a question about a deletion");
        await expectPresent(balancer, "it was deleted");
      }),
  },
  {
    ...validating,
    id: "lb.validate.nodes",
    title: "validate_only changes no nodes",
    why: "A question about nodes would take traffic from some.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        if (!isClaimed(context.info.capabilities, nodeUpdates)) throw new CheckSkipped(`${nodeUpdates} is not claimed`);
        const { nodesFingerprint } = await balancer.converge();
        const nodes = { ...inline(), fingerprint: "only-asked" };
        expectOk(await balancer.updateNodes(nodes, only), "a question about nodes");
        const after = await expectPresent(balancer, "it is gone");
        if (after.nodesFingerprint !== nodesFingerprint)
          fail({ message: "its nodes were changed", expected: nodesFingerprint, got: after.nodesFingerprint });
      }),
  },
];

/** Nodes of which one has no machine. */
const withGone = (context: CheckContext) => {
  const node = fixtureNode(context);
  const providerId = context.fixtures.absentProviderId ?? "";
  return inline(node, { ...node, name: "conformance-gone", providerId, addresses: [] });
};

const nodes: readonly Check[] = [
  {
    ...base,
    id: "lb.diag.shape",
    title: "diagnostics have a severity, a CamelCase reason and a sentence, and are at most 32",
    rules: ["LB-7", "LIM-1"],
    why: "It becomes an event; one without reason is refused by Kubernetes.",
    fixtures: ["instance", "absentProviderId"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const problems: string[] = [];
        await balancer.converge({ nodes: withGone(context) }, (called) => {
          if (called.kind !== "ok") return;
          const { diagnostics } = called.response;
          if (diagnostics.length > 32) problems.push(`${diagnostics.length} diagnostics`);
          for (const one of diagnostics) {
            problems.push(...ruleProblems("cloudprovider.v1.Diagnostic", one));
            if (!/^[A-Z][A-Za-z0-9]*$/.test(one.reason)) problems.push(`reason ${show(one.reason)} is no CamelCase`);
          }
        });
        expectNone([...new Set(problems)], "diagnostics are not whole");
      }),
  },
  {
    ...base,
    id: "lb.nodes.remove",
    title: "UpdateLoadBalancerNodes takes out the nodes that it does not name",
    rules: ["LB-8"],
    why: "A removed node keeps receiving connections that fail.",
    capability: nodeUpdates,
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge({ nodes: inline(fixtureNode(context)) });
        await balancer.convergeNodes(inline());
        const { nodesFingerprint, registeredNodes = 0 } = await expectPresent(balancer, "it is gone");
        const expected = show([inline().fingerprint, 0]);
        const got = show([nodesFingerprint, registeredNodes]);
        if (got !== expected) fail({ message: "its nodes are others", expected, got });
      }),
  },
  {
    ...base,
    id: "lb.nodes.unchanged",
    title: "`unchanged` at the fingerprint in force keeps the nodes",
    rules: ["NST-1", "LB-9"],
    why: "The controller sends it with most changes of a Service: the load balancer would lose its nodes with the first.",
    fixtures: ["instance"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const wanted = inline(fixtureNode(context));
        const before = await balancer.converge({ nodes: wanted });
        const after = await balancer.converge({
          ports: [80, 443],
          nodes: { ...wanted, source: { $case: "unchanged", value: {} } },
        });
        const of = (one: typeof before) => show([one.nodesFingerprint, one.registeredNodes]);
        if (of(after) !== of(before)) fail({ message: "its nodes are others", expected: of(before), got: of(after) });
      }),
  },
];

/** How changes of load balancers are ordered, repeated, asked about and hinted at. */
export const balancerChangeChecks: readonly Check[] = [
  ...superseded,
  ...repeated,
  ...protecting,
  ...hinting,
  ...asking,
  ...nodes,
];
