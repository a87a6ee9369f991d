import { expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE } from "../support/lease.ts";
import type { Harness } from "../support/harness.ts";

const CALL_MS = 10_000;
const OTHER_KEY = "another-key";
const SCOPE = "scope.cloudwire.dev/simulated";

let harness: Harness;

eachHarness(async (fresh) => {
  harness = fresh;
  await harness.admin.addAccount({ id: "other-account", key: OTHER_KEY });
});

async function scopeIs(wanted: string): Promise<void> {
  await eventually(
    `the lease to name scope ${wanted}`,
    30_000,
    async () => {
      const lease = await harness.kube.find(LEASE);
      return lease !== undefined && at(lease, "metadata", "annotations", SCOPE) === wanted ? true : undefined;
    },
    () => harness.outputs(),
  );
}

/** Text of /readyz once it answers that status. */
async function readyz(controller: Program, status: number): Promise<string> {
  const [, url] = await controller.said(/health=(http:\S+)/);
  return eventually(`readyz to answer ${status}`, 30_000, async () => {
    const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(CALL_MS) });
    const text = await answer.text();
    return answer.status === status ? text : undefined;
  });
}

test("a new controller with the credentials of another account changes nothing until an operator accepts it as reported", async () => {
  await harness.createMachines([{ name: "a", zone: "north-a" }]);
  await harness.registerNode("a");
  const sidecar = await harness.startSidecar();
  const first = harness.startController();
  await harness.initialized("a");
  await scopeIs("simcloud/system");
  await Promise.all([sidecar.stop("SIGTERM"), first.stop("SIGTERM")]);

  await harness.startSidecar({ apiKey: OTHER_KEY });
  const second = harness.startController();
  await second.said(/Became leader/);
  const text = await readyz(second, 500);
  expect(text).toMatch(
    /^\[-\]provider failed: .*works in scope "simcloud\/other-account" and worked in "simcloud\/system"/m,
  );
  await harness.createService("held", 8080);
  const events = await eventually("the event on the lease", 30_000, async () => {
    const all = await harness.kube.items("/api/v1/events?fieldSelector=reason=ProviderScopeChanged");
    return all.length > 0 ? all : undefined;
  });
  expect(events[0]).toMatchObject({
    type: "Warning",
    involvedObject: { kind: "Lease", name: "cloud-controller-manager" },
  });
  await eventually("the service to say so", 30_000, async () =>
    (await harness.eventReasons("Service", "held")).includes("SyncLoadBalancerFailed") ? true : undefined,
  );
  expect(await harness.loadBalancers()).toEqual([]);
  await scopeIs("simcloud/system");

  const [, command = ""] = /kubectl (.*scope\.cloudwire\.dev\S+)/.exec(text) ?? [];
  await harness.controlPlane.kubectl(command.split(" "));
  await second.said(/The scope of provider is confirmed; changes resume/);
  await readyz(second, 200);
  await harness.addressed("held");
  await scopeIs("simcloud/other-account");
  // In the account that is meant now.
  expect(await harness.loadBalancers()).toEqual([]);
});

test("a standby with the credentials of another account is not ready, so that no roll-out goes on with it", async () => {
  const sidecar = await harness.startSidecar();
  const leader = harness.startController();
  await leader.said(/Became leader/);
  await scopeIs("simcloud/system");
  await sidecar.stop("SIGTERM");
  await harness.startSidecar({ apiKey: OTHER_KEY });
  const standby = harness.startController();
  await standby.said(/The scope of provider changed/);
  expect(await readyz(standby, 500)).toContain("[-]provider failed: ");
  // An operator takes the note away: whatever is counts.
  await harness.controlPlane.kubectl([
    "-n",
    "kube-system",
    "annotate",
    "lease",
    "cloud-controller-manager",
    `${SCOPE}-`,
  ]);
  await readyz(standby, 200);
  await readyz(leader, 200);
  await scopeIs("simcloud/other-account");
});
