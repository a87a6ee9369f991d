import { AbsenceBasis } from "@cloudwire/proto/cloudprovider/v1/common";
import { LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { expectError, expectNone, fail, show } from "../../suite/expect.ts";
import { property } from "../../contract/field-rules.ts";
import { lifeMs, type TestBalancer, withBalancer } from "../load-balancers/test-balancer.ts";
import { expectPresent } from "../load-balancers/load-balancers.ts";
import {
  balancerWatch,
  type Hint,
  hintMs,
  instanceWatch,
  lookMs,
  tokenOf,
  type Watch,
  type WatchKind,
  withoutTimes,
  withWatch,
} from "./watching.ts";

const base = { level: "D", profile: "instances-watch", exclusive: true, timeoutMs: 600_000 } as const;
const withMachines = {
  ...base,
  hooks: ["instanceCreate", "instanceTerminate"],
  requires: ["watch.initial.end"],
} as const;
const withBalancers = {
  ...base,
  level: "M",
  profile: "lb-watch",
  timeoutMs: lifeMs,
  requires: ["lb.ensure.active", "lb.watch.owned"],
} as const;

/** The hint of a change, or the word that everything has to be read again, which is as good. */
const hinted = async (
  kind: WatchKind,
  context: CheckContext,
  watch: Watch,
  what: string,
  isIt: (hint: Hint) => boolean,
): Promise<Hint> => {
  const waitMs = hintMs(kind, context);
  const hint = await watch.until(waitMs, (one) => one.kind === "resync" || isIt(one));
  return hint ?? fail({ message: `${what} is not reported within ${waitMs} ms`, exchange: watch.exchange });
};

const absenceProblems = (hint: Hint): readonly string[] => {
  if (hint.kind === "resync") return [];
  const absence = property(hint.value, "absence");
  return [
    ...(absence === undefined ? ["there is no absence"] : []),
    ...(property(absence, "basis") === AbsenceBasis.UNSPECIFIED ? ["the absence has no basis"] : []),
    ...(absence !== undefined && property(absence, "observeTime") === undefined ? ["the absence has no time"] : []),
  ];
};

/**
 * Goes on after a token, and expects the hint of a change that was made meanwhile. A provider that keeps no history refuses the token, and the
 * controller lists: that is no gap.
 */
const goOn = async (
  kind: WatchKind,
  context: CheckContext,
  resumeToken: string,
  what: string,
  isIt: (hint: Hint) => boolean,
): Promise<void> =>
  withWatch(
    kind,
    context,
    async (watch) => {
      const first = await watch.next(lookMs(context));
      if (first.kind === "ended") {
        expectError(first.called, { codes: [11], reasons: ["RESUME_TOKEN_EXPIRED"] }, "a token of a moment ago");
        return;
      }
      if (first.kind === "hint" && (first.hint.kind === "resync" || isIt(first.hint))) return;
      await hinted(kind, context, watch, what, isIt);
    },
    { request: { resumeToken } },
  );

/** Machines that come and go; only the vendor can make them do that. */
const machines: readonly Check[] = [
  {
    ...withMachines,
    id: "watch.resume.continues",
    title: "an instance created during a disconnect is reported to a watch that continues after its token",
    rules: ["WAT-4"],
    why: "A break of a second would hide the machine until the next full list. Usually a resumed watch begins now.",
    run: async (context) => {
      const token = await tokenOf(instanceWatch, context);
      const { providerId } = await context.hooks.createMachine();
      await goOn(instanceWatch, context, token, `machine ${providerId}`, ({ key }) => isSameInstance(key, providerId));
    },
  },
  {
    ...withMachines,
    id: "watch.latency",
    title: "a new instance is reported within twice the expected_latency of the handshake",
    rules: ["WAT-1", "INF-3"],
    why: "The controller lists the less often the sooner hints come. Usually a slow poll that calls itself a watch.",
    run: (context) => {
      if (instanceWatch.claimOf(context)?.expectedLatency === undefined)
        throw new CheckSkipped("the handshake has no expected_latency");
      return withWatch(instanceWatch, context, async (watch) => {
        await watch.snapshot();
        const { providerId } = await context.hooks.createMachine();
        await hinted(instanceWatch, context, watch, `machine ${providerId}`, ({ key }) =>
          isSameInstance(key, providerId),
        );
      });
    },
  },
  {
    ...withMachines,
    id: "watch.gone.absence",
    title: "a terminated instance is reported as gone, with evidence",
    rules: ["ABS-1", "ABS-7", "WAT-1"],
    why: "An absence without basis is read as unknown: the Node stays.",
    run: async (context) => {
      const machine = await context.hooks.createMachine();
      await withWatch(instanceWatch, context, async (watch) => {
        await watch.snapshot();
        await context.hooks.terminateMachine(machine);
        const gone = await hinted(
          instanceWatch,
          context,
          watch,
          `the end of ${machine.providerId}`,
          ({ kind, key }) => kind === "gone" && isSameInstance(key, machine.providerId),
        );
        expectNone(absenceProblems(gone), "the machine is gone without reason", { exchange: watch.exchange });
      });
    },
  },
];

const isActive = (hint: Hint, balancer: TestBalancer): boolean =>
  hint.kind === "upsert" &&
  hint.key === balancer.service.uid &&
  property(hint.value, "phase") === LoadBalancerPhase.ACTIVE;

const balancers: readonly Check[] = [
  {
    ...withBalancers,
    level: "R",
    exclusive: false,
    requires: [],
    id: "lb.watch.owned",
    title: "WatchLoadBalancers ends its initial events, and shows nothing to a cluster that has made nothing",
    rules: ["WAT-2", "LB-12"],
    why: "What a cluster is shown and has not made it deletes: the user's own load balancers, or another cluster's.",
    run: (context) =>
      withWatch(balancerWatch, context, async (watch) => {
        // Checks that make some may run at the same time: those are of the kit's own Services.
        const { objects } = await watch.snapshot();
        const foreign = [...objects.values()].filter(
          (one) => property(property(one, "service"), "namespace") !== "conformance",
        );
        expectNone(foreign.map(show), "a cluster that never existed has load balancers", { exchange: watch.exchange });
      }),
  },
  {
    ...withBalancers,
    id: "lb.watch.ready",
    title: "WatchLoadBalancers reports that a new load balancer is ACTIVE",
    rules: ["WAT-1", "LB-3"],
    why: "The controller polls less often if it expects events: the Service waits for its address.",
    run: (context) =>
      withBalancer(context, (balancer) =>
        withWatch(balancerWatch, context, async (watch) => {
          await watch.snapshot();
          await balancer.converge();
          await hinted(balancerWatch, context, watch, "the new load balancer", (hint) => isActive(hint, balancer));
        }),
      ),
  },
  {
    ...withBalancers,
    id: "lb.watch.initial.equals-get",
    title: "the initial events of WatchLoadBalancers show a load balancer as GetLoadBalancer does",
    rules: ["WAT-2", "LST-5"],
    why: "What differs is corrected to and fro. Usually two conversions of one load balancer.",
    requires: ["lb.watch.ready"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const expected = withoutTimes(await expectPresent(balancer, "the load balancer is not there"));
        await withWatch(balancerWatch, context, async (watch) => {
          const { objects } = await watch.snapshot();
          const got = withoutTimes(objects.get(balancer.service.uid) ?? null);
          if (got !== expected) fail({ message: "watch and Get differ", expected, got, exchange: watch.exchange });
        });
      }),
  },
  {
    ...withBalancers,
    id: "lb.watch.gone",
    title: "WatchLoadBalancers reports that a load balancer is gone, with evidence",
    rules: ["WAT-1", "ABS-1", "ABS-7"],
    why: "An absence without basis is treated as unknown: the deleted load balancer is not recreated.",
    requires: ["lb.watch.ready"],
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        await withWatch(balancerWatch, context, async (watch) => {
          await watch.snapshot();
          await balancer.remove();
          const { uid } = balancer.service;
          const gone = await hinted(
            balancerWatch,
            context,
            watch,
            "the end of the load balancer",
            ({ kind, key }) => kind === "gone" && key === uid,
          );
          expectNone(absenceProblems(gone), "it is gone without reason", { exchange: watch.exchange });
        });
      }),
  },
  {
    ...withBalancers,
    id: "lb.watch.resume.continues",
    title: "a load balancer created during a disconnect is reported to a watch that continues after its token",
    rules: ["WAT-4"],
    why: "A break of a second would hide the change until the next full list. Usually a resumed watch begins now.",
    requires: ["lb.watch.ready"],
    run: async (context) => {
      const token = await tokenOf(balancerWatch, context);
      await withBalancer(context, async (balancer) => {
        await balancer.converge();
        await goOn(balancerWatch, context, token, "the new load balancer", (hint) => isActive(hint, balancer));
      });
    },
  },
  {
    ...withBalancers,
    id: "lb.watch.isolated",
    title: "WatchLoadBalancers reports nothing about another cluster's load balancers",
    rules: ["LB-12", "SHAPE-6"],
    why: "Two clusters in one account would delete each other's load balancers.",
    requires: ["lb.watch.ready"],
    run: (context) => {
      const { cluster, scopeId } = context.callContext;
      const other = { context: { cluster: { ...cluster, id: `${cluster.id}-watcher` }, scopeId } };
      return withWatch(
        balancerWatch,
        context,
        async (watch) => {
          await watch.snapshot();
          await withBalancer(context, (balancer) =>
            withWatch(balancerWatch, context, async (own) => {
              await own.snapshot();
              await balancer.converge();
              // Once its own cluster has the event, the other would have it too.
              await hinted(balancerWatch, context, own, "the new load balancer", (hint) => isActive(hint, balancer));
              const { hints } = await watch.during(lookMs(context));
              const reported = hints.filter(({ key }) => key === balancer.service.uid);
              expectNone(
                reported.map(({ value }) => show(value)),
                "another cluster gets the event",
                { exchange: watch.exchange },
              );
            }),
          );
        },
        { request: { ...other, sendInitialEvents: true } },
      );
    },
  },
];

/** Changes that watches report. */
export const watchChangeChecks: readonly Check[] = [...machines, ...balancers];
