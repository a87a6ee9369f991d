import type { Check } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { client } from "../../endpoint/reach.ts";
import { lifeMs, withBalancer } from "../load-balancers/test-balancer.ts";
import { expectOne } from "../load-balancers/load-balancers.ts";

/** Many calls at once. */
export const concurrencyChecks: readonly Check[] = [
  {
    level: "R",
    profile: "core",
    id: "conc.handshake",
    title: "the handshake is answered while as many other calls are under way as the handshake allows, and more",
    rules: ["CON-1"],
    why: "Whether a provider lives must be seen when it is busiest.",
    exclusive: true,
    timeoutMs: 60_000,
    run: async (context) => {
      // The controller never has more than 256 outstanding.
      const count = Math.min(250, (context.info.limits?.maxConcurrentCalls ?? 10) * 2);
      const method = methodsByName.GetProviderStatus;
      const others = Array.from({ length: count }, () =>
        context.caller.call(method, sampleRequest("GetProviderStatus", context), { patienceMs: 30_000 }),
      );
      expectOk(await context.caller.call(methods.getProviderInfo, { client }), "the handshake beside other calls");
      const answers = await Promise.all(others);
      expectNone(
        answers.flatMap((called) => (called.kind === "ok" ? [] : [outcomeLine(called)])),
        "calls about the status are not answered",
      );
    },
  },
  {
    level: "M",
    profile: "loadbalancer",
    id: "conc.ensure.same",
    title: "Ensures of one Service side by side leave one load balancer",
    rules: ["LB-1", "LB-14"],
    why: "Two controllers overlap when one takes over from the other.",
    requires: ["lb.ensure.active"],
    exclusive: true,
    timeoutMs: lifeMs,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => balancer.ensure()));
        const problems = answers.flatMap((called) => {
          const busy = called.kind === "error" && called.error.code === 10;
          return called.kind === "ok" || busy ? [] : [outcomeLine(called)];
        });
        expectNone(problems, "some are neither done nor told to come again", { expected: "OK or ABORTED" });
        const { id } = await balancer.converge();
        await expectOne(context, balancer, id);
      }),
  },
  {
    level: "M",
    profile: "loadbalancer",
    id: "conc.ensure-delete",
    title: "after Ensures and deletions side by side the last word holds",
    rules: ["LB-10", "LB-14"],
    why: "What a deletion has overtaken must not come back: nobody knows of it.",
    requires: ["lb.ensure.active"],
    exclusive: true,
    timeoutMs: lifeMs,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? balancer.ensure() : balancer.deleteOnce())),
        );
        await balancer.remove();
        const left = await balancer.get();
        if (left !== undefined) fail({ message: "it is back", expected: "absent", got: show(left) });
      }),
  },
];
