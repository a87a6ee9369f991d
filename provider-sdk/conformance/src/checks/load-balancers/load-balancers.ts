import {
  type LoadBalancer,
  LoadBalancerPhase,
  loadBalancerPhaseToJSON,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { durationMs } from "../../contract/duration.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { lifeMs, TestBalancer, withBalancer } from "./test-balancer.ts";

/** Load balancers cost money and quota: one at a time. */
const base = {
  level: "M",
  profile: "loadbalancer",
  exclusive: true,
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active"],
} as const;

/** What may not change while a load balancer stays the same one. */
const identity = ({ id, ingress }: LoadBalancer) => ({
  id,
  ingress: (ingress?.items ?? []).map(({ ip, hostname }) => ip ?? hostname),
});

const expectSame = (message: string, before: unknown, after: unknown): void => {
  if (show(before) !== show(after)) fail({ message, expected: show(before), got: show(after) });
};

/** Fails unless Get shows the load balancer. */
export const expectPresent = async (balancer: TestBalancer, message: string): Promise<LoadBalancer> =>
  (await balancer.get()) ?? fail({ message, expected: "the load balancer", got: "absent" });

const canList = ({ info }: CheckContext): boolean => isClaimed(info.capabilities, "load_balancers.list");

/** Fails unless the cluster has exactly one load balancer for the Service, with that id. */
export const expectOne = async (context: CheckContext, balancer: TestBalancer, id: string): Promise<void> => {
  const found = canList(context)
    ? await balancer.listed()
    : [await expectPresent(balancer, "the load balancer is not there")];
  expectSame(
    "there is not exactly one load balancer",
    [id],
    found.map((one) => one.id),
  );
};

const softCallMs = ({ info }: CheckContext): number => durationMs(info.limits?.softCallDuration) ?? 10_000;
/** How much later than it says an answer may come. */
const lateMs = 2_000;

const working: ReadonlySet<LoadBalancerPhase> = new Set([
  LoadBalancerPhase.PROVISIONING,
  LoadBalancerPhase.UPDATING,
  LoadBalancerPhase.DELETING,
]);

const making: readonly Check[] = [
  {
    ...base,
    requires: [],
    id: "lb.ensure.active",
    title: "a load balancer becomes ACTIVE, with a place at which traffic enters",
    rules: ["LB-3"],
    why: "Without it the Service stays without address for ever. What it needs beyond ports goes to `loadBalancer` in the configuration.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const made = await balancer.converge();
        if ((made.ingress?.items ?? []).every(({ ip, hostname }) => ip === undefined && hostname === undefined))
          fail({ message: "it has no ingress", expected: "an ip or a hostname", got: show(made.ingress) });
      }),
  },
  {
    ...base,
    id: "lb.ensure.fast",
    title: "Ensure and Delete answer within soft_call_duration, finished or not",
    rules: ["LB-3"],
    why: "Calls that wait for the cloud hold the places of the controller's other calls.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const longestMs = (softCallMs(context) + lateMs) * context.slowFactor;
        const slow = (name: string, ms: number): readonly string[] =>
          ms > longestMs ? [`${name} took ${Math.round(ms)} ms`] : [];
        const problems: string[] = [];
        await balancer.converge({}, ({ exchange }) => problems.push(...slow("Ensure", exchange.elapsedMs)));
        const { exchange } = await balancer.deleteOnce();
        problems.push(...slow("Delete", exchange.elapsedMs));
        expectNone(problems, "answers come late", { expected: `at most ${longestMs} ms` });
      }),
  },
  {
    ...base,
    id: "lb.ensure.pending-shape",
    title: "an answer about unfinished work says when to ask again, in more than 0 and at most 60 s",
    rules: ["LB-3"],
    why: "The caller polls by it: without it, it asks too often, or never.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const problems: string[] = [];
        await balancer.converge({}, (called) => {
          const { loadBalancer } = expectOk(called, "EnsureLoadBalancer fails").response;
          const ms = durationMs(loadBalancer?.operation?.pollAfter) ?? 0;
          const isWorking = loadBalancer !== undefined && working.has(loadBalancer.phase);
          if ((isWorking || loadBalancer?.operation !== undefined) && (ms <= 0 || ms > 60_000))
            problems.push(
              `phase ${loadBalancer && loadBalancerPhaseToJSON(loadBalancer.phase)} with poll_after of ${ms} ms`,
            );
        });
        expectNone(problems, "answers do not say when to ask again");
      }),
  },
  {
    ...base,
    id: "lb.ensure.echo",
    title: "both fingerprints come back once they are in force, from Ensure and from Get",
    rules: ["LB-4", "NST-5"],
    why: "A controller that starts again does everything again that it cannot see has been done.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const made = await balancer.converge();
        const { specFingerprint, nodes } = balancer.request();
        const expected = { specFingerprint, nodesFingerprint: nodes?.fingerprint };
        const of = (one: LoadBalancer) => ({
          specFingerprint: one.specFingerprint,
          nodesFingerprint: one.nodesFingerprint,
        });
        expectSame("Ensure answers other fingerprints", expected, of(made));
        expectSame("Get answers other fingerprints", expected, of(await expectPresent(balancer, "it is not there")));
      }),
  },
  {
    ...base,
    id: "lb.ensure.zero-nodes",
    title: "a load balancer without nodes exists",
    rules: ["LB-7"],
    why: "Clusters begin without nodes, and scale to none; the address must stay.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const { registeredNodes = 0 } = await expectPresent(balancer, "without nodes it is not there");
        if (registeredNodes !== 0) fail({ message: "it has targets", expected: "0", got: String(registeredNodes) });
      }),
  },
];

const repeating: readonly Check[] = [
  {
    ...base,
    id: "lb.ensure.idempotent",
    title: "repeating Ensure leaves one load balancer, the same one",
    rules: ["LB-1", "SHAPE-3"],
    why: "Every repetition that makes another is money, and an address that changes.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = await balancer.converge();
        for (let times = 0; times < 5; times++)
          expectSame("it is another one", identity(first), identity(await balancer.converge()));
        await expectOne(context, balancer, first.id);
      }),
  },
  {
    ...base,
    id: "lb.ensure.request-id",
    title: "a request_id that comes again is answered, not refused",
    rules: ["RPC-1"],
    why: "Responses get lost; a retry must not fail because it is a retry.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = await balancer.converge();
        const change = { requestId: "conformance-again" };
        for (let times = 0; times < 3; times++) {
          const called = await balancer.ensure({ change });
          const { loadBalancer } = expectOk(called, "a repeated request_id").response;
          if (loadBalancer?.id !== first.id)
            fail({ message: "it is another one", expected: first.id, got: show(loadBalancer?.id) });
        }
      }),
  },
  {
    ...base,
    id: "lb.ensure.ports",
    title: "ports come and go without another id or another address",
    rules: ["LB-2"],
    why: "Another address means that DNS entries and firewalls of the users' users are wrong.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = await balancer.converge();
        for (const ports of [[80, 443], [443]]) {
          const { specFingerprint } = balancer.request({ ports });
          const next = await balancer.converge({ ports });
          expectSame(`ports ${ports.join(" and ")} make it another one`, identity(first), identity(next));
          expectSame("the new spec is not in force", specFingerprint, next.specFingerprint);
        }
        await expectOne(context, balancer, first.id);
      }),
  },
  {
    ...base,
    id: "lb.ensure.port-order",
    title: "ports in another order change nothing in the cloud",
    rules: ["LB-2", "LB-13"],
    why: "A change for each reordering is calls without end.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const reported = (one: LoadBalancer) => ({ ...identity(one), observed: one.observedFingerprint });
        const first = await balancer.converge({ ports: [80, 443] });
        const second = await balancer.converge({ ports: [443, 80] });
        expectSame("the order makes a difference", reported(first), reported(second));
      }),
  },
  {
    ...base,
    id: "lb.ensure.stale",
    title: "a change with a smaller sequence is refused with STALE_GENERATION and changes nothing",
    rules: ["LB-5"],
    why: "A controller that was replaced and does not know yet would undo what its successor has done.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const newer = { change: { sequence: 20n } };
        const { specFingerprint } = await balancer.converge(newer);
        const called = await balancer.ensure({ ports: [8080], change: { sequence: 10n } });
        expectError(called, { codes: [10], reasons: ["STALE_GENERATION"] }, "a change that was superseded");
        const after = await expectPresent(balancer, "it is not there");
        expectSame("it was changed anyway", specFingerprint, after.specFingerprint);
      }),
  },
  {
    ...base,
    id: "lb.validate.no-effect",
    title: "validate_only makes nothing and changes nothing",
    rules: ["RPC-3"],
    why: "Who asks what would happen does not want it to happen.",
    capability: "load_balancers.validate_only",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        expectOk(await balancer.ensure({ change: { validateOnly: true } }), "a spec for one that does not exist");
        if ((await balancer.get()) !== undefined) fail({ message: "it was made", expected: "absent" });
        const { specFingerprint } = await balancer.converge();
        expectOk(await balancer.ensure({ ports: [8080], change: { validateOnly: true } }), "a spec with another port");
        const after = await expectPresent(balancer, "it is gone");
        expectSame("it was changed", specFingerprint, after.specFingerprint);
      }),
  },
];

const reading: readonly Check[] = [
  {
    ...base,
    id: "lb.get.equals",
    title: "Get answers what Ensure has",
    rules: ["LB-3", "LB-4"],
    why: "The controller polls with either.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const made = await balancer.converge();
        const got = await expectPresent(balancer, "it is not there");
        const reported = (one: LoadBalancer) => ({ ...identity(one), service: one.service, phase: one.phase });
        expectSame("Get reports something else", reported(made), reported(got));
      }),
  },
  {
    ...base,
    id: "lb.list.one",
    title: "the list has a load balancer once, with its Service, as Get answers it",
    rules: ["LB-12", "LST-5"],
    why: "A listed load balancer without its Service cannot be distinguished from an orphan.",
    capability: "load_balancers.list",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const got = await expectPresent(balancer, "it is not there");
        const reported = (one: LoadBalancer) => ({
          ...identity(one),
          service: one.service,
          fingerprints: [one.specFingerprint, one.nodesFingerprint],
        });
        expectSame("the list reports something else", [reported(got)], (await balancer.listed()).map(reported));
      }),
  },
  {
    ...base,
    id: "lb.cluster.isolated",
    title: "the same Service of another cluster is another load balancer; deleting one leaves the other",
    rules: ["SHAPE-6", "LB-12"],
    why: "Restored and copied clusters have Services with the same uid; one must not take the other's.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const first = await balancer.converge();
        const other = new TestBalancer(context, "-other", balancer.service.uid);
        try {
          const second = await other.converge();
          if (second.id === first.id) fail({ message: "both clusters have the same one", got: first.id });
        } finally {
          await other.remove();
        }
        await expectOne(context, balancer, first.id);
      }),
  },
];

const deleting: readonly Check[] = [
  {
    ...base,
    id: "lb.delete.gone",
    title: "after a deletion that is done there is nothing, in Get and in the list",
    rules: ["LB-10", "LB-11"],
    why: "The controller then removes the Service's finalizer: remaining resources are never deleted, and cost money.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        await balancer.remove();
        const left = [await balancer.get(), ...(canList(context) ? await balancer.listed() : [])];
        expectNone(
          left.flatMap((one) => (one === undefined ? [] : [one.id])),
          "the deletion is done and it is still there",
        );
      }),
  },
  {
    ...base,
    id: "lb.delete.idempotent",
    title: "the deletion of what was deleted is done",
    rules: ["LB-10", "SHAPE-3"],
    why: "The answer may have been lost; a Service must not hang because of it.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        await balancer.remove();
        for (let times = 0; times < 3; times++) {
          const called = await balancer.deleteOnce();
          const { response } = expectOk(called, "the second deletion fails");
          if (!response.done) fail({ message: "it is not done", expected: "done", got: show(response) });
        }
      }),
  },
  {
    ...base,
    id: "lb.delete.mid-create",
    title: "a deletion right after the first Ensure ends with nothing left",
    rules: ["LB-10"],
    why: "People delete what they have just made; half-made load balancers are the ones that are forgotten.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        expectOk(await balancer.ensure(), "EnsureLoadBalancer fails");
        await balancer.remove();
        const left = await balancer.get();
        if (left !== undefined) fail({ message: "it is still there", expected: "absent", got: show(left) });
      }),
  },
  {
    ...base,
    id: "lb.recreate",
    title: "a Service's load balancer can be made again after its deletion",
    rules: ["LB-1", "SHAPE-2"],
    why: "A Service changes its type and changes it back, with the same uid.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        await balancer.remove();
        await balancer.converge();
        await expectPresent(balancer, "it was not made again");
      }),
  },
];

/** Load balancers that are made, changed and removed. */
export const balancerChecks: readonly Check[] = [...making, ...repeating, ...reading, ...deleting];
