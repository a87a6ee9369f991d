import { describe, expect, test } from "vitest";
import { eventually } from "../support/poll.ts";
import { contractFailure } from "../support/provider/scripted-provider.ts";
import type { Harness } from "./support/harness.ts";
import { ENSURED, ENSURING, PATH, serviceLbHelpers } from "./support/service-lb.ts";

/** Sweeps come as often as the provider allows: every 10 s of the controllers' time, twice a second of ours. */
const sweeping = {
  driftPeriodMs: 1000,
  provider: {
    info: {
      capabilities: {
        instances: { maxBatchSize: 200, lookupByName: true, shutdownState: true },
        loadBalancers: { updateNodes: true, needsNodePorts: true, list: { maxPageSize: 500 } },
      },
      limits: {
        maxConcurrentCalls: 16,
        maxReceiveBytes: 4_194_304n,
        minStatusInterval: { seconds: 0n, nanos: 1_000_000 },
        minResyncInterval: { seconds: 10n, nanos: 0 },
      },
    },
  },
};

let harness: Harness;
const { startSettled, balancer, ip, condition } = serviceLbHelpers((started) => {
  harness = started;
});

const calls = (call: string): number => harness.cloud.changes.filter((made) => made === call).length;
const happened = (call: string, times: number): Promise<void> =>
  eventually(`${call} happens ${times} times`, () => calls(call) >= times, 30_000);

/** A change by another client in the cloud. */
function tamper(what: string): void {
  const known = balancer();
  if (known !== undefined) known.observedFingerprint = what;
}

describe("service-lb and changes by others in the cloud", () => {
  test("changes nothing while all is as acknowledged, and reads by one list a sweep", async () => {
    await startSettled(sweeping);
    await happened("list all", 2);
    expect(new Set(harness.cloud.changes)).toEqual(new Set(["list all"]));
    expect(harness.writes).toEqual([]);
  });

  test("repairs a load balancer that another client changed, and reports it", async () => {
    const manager = await startSettled(sweeping);
    tamper("by hand");
    await happened("ensure web", 1);
    await happened("list all", 3);
    expect(harness.cloud.changes.filter((call) => call !== "list all")).toEqual(["get web", "ensure web"]);
    expect(balancer()?.observedFingerprint).toBe("up-to-date");
    expect(harness.events("web")).toEqual([
      `${ENSURING} x2`,
      `${ENSURED} x2`,
      "Warning LoadBalancerDrifted Repairing the load balancer: load balancer lb-1 was changed in the cloud",
    ]);
    expect(await manager.metrics.text()).toContain(
      'cloudwire_load_balancer_drifts_total{provider="acme",kind="changed",action="repaired"} 1',
    );
  });

  test("recreates a load balancer that another client deleted", async () => {
    await startSettled(sweeping);
    harness.cloud.balancers.clear();
    await eventually("there is another", () => ip() === "192.0.2.2", 30_000);
    expect(balancer()?.nodes).toEqual(["a", "b"]);
  });

  test("concludes nothing from a cloud that does not answer", async () => {
    await startSettled(sweeping);
    harness.cloud.before = ({ method }) => {
      if (method === "list" || method === "get") throw contractFailure("INCOMPLETE_ANSWER", "half of it");
    };
    harness.cloud.balancers.clear();
    await happened("list all", 2);
    expect(new Set(harness.cloud.changes)).toEqual(new Set(["list all"]));
    harness.cloud.before = () => undefined;
    await happened("ensure web", 1);
  });

  test("leaves what is changed back each time, says so once, and tries again when the Service changes", async () => {
    await startSettled(sweeping);
    harness.cloud.after = ({ method }) => {
      // After the answer was made: the cloud has its own idea of it.
      if (method === "ensure") tamper("normalized");
    };
    tamper("normalized");
    await eventually("it is left", () => condition()?.startsWith("False DriftNotRepaired: ") === true, 40_000);
    expect(calls("ensure web")).toBe(5);
    const lists = calls("list all");
    await happened("list all", lists + 3);
    expect(calls("ensure web")).toBe(5);
    expect(harness.events("web").filter((event) => event.includes("LoadBalancerDriftNotRepaired"))).toEqual([
      "Warning LoadBalancerDriftNotRepaired Not repairing the load balancer for a day because it was changed back after each repair: load balancer lb-1 was changed in the cloud. To fix: find out what changes the load balancer in the cloud",
    ]);
    harness.cloud.after = () => undefined;
    await harness.user("PATCH", PATH, { metadata: { annotations: { touched: "yes" } } });
    await eventually("it matches the spec", () => condition()?.startsWith("True Ready") === true);
    expect(balancer()?.observedFingerprint).toBe("up-to-date");
  });
});
