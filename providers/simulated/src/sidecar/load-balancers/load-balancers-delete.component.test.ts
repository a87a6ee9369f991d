import { describe, expect, test } from "vitest";
import type { FaultSpec } from "../../api/admin.ts";
import { loadBalancerCalls } from "../../test/load-balancer-calls.ts";
import { poll } from "../../test/poll.ts";
import { soon } from "../../test/test-cloud.ts";
import { failureOf, type TestProvider } from "../../test/test-provider.ts";

let provider: TestProvider;
const { ensure, remove, get, inCloud } = loadBalancerCalls((started) => {
  provider = started.provider;
});

describe("DeleteLoadBalancer", () => {
  test("is done for what never existed, and for what it deleted", async () => {
    expect(await remove()).toMatchObject({ done: true });
    await ensure();
    expect(await remove()).toMatchObject({ done: true });
    expect(await inCloud()).toEqual([]);
    expect(await get()).toMatchObject({ $case: "absent", value: { stronglyConsistent: true } });
  });

  test("deletes orphans of the Service under any name", async () => {
    const { loadBalancer } = await ensure();
    const [own] = await inCloud();
    const listeners = [{ port: 9, protocol: "tcp" as const, targetPort: 9 }];
    await provider.cloud.client.createLoadBalancer({ name: "orphan", listeners, tags: own?.tags ?? {} }, soon());
    await provider.cloud.client.createLoadBalancer({ name: "other", listeners }, soon());
    expect((await ensure()).loadBalancer?.id).toBe(loadBalancer?.id);
    expect(await remove()).toMatchObject({ done: true });
    expect((await inCloud()).map(({ name }) => name)).toEqual(["other"]);
  });

  test("works while the load balancer is being created, and reports the progress", async () => {
    await provider.cloud.admin.change({ delays: { loadBalancerCreateMs: 60_000, loadBalancerDeleteMs: 300 } });
    const { loadBalancer } = await ensure();
    const started = await remove();
    expect(started).toMatchObject({ done: false, remaining: [`load balancer ${loadBalancer?.id}`] });
    expect(await failureOf(ensure())).toBe("NOT_READY");
    await poll("the end", async () => (await remove()).done || undefined);
    expect(await inCloud()).toEqual([]);
  });

  test("leaves a protected load balancer alone", async () => {
    await ensure({ spec: { deletionProtection: true } });
    expect(await failureOf(remove())).toBe("DELETION_PROTECTED");
    expect(await inCloud()).toHaveLength(1);
  });

  test("with validate_only deletes nothing", async () => {
    await ensure();
    expect((await remove({ change: { validateOnly: true } })).plannedChanges).toHaveLength(1);
    expect(await inCloud()).toHaveLength(1);
  });

  test.each<[FaultSpec, string]>([
    [{ kind: "emptyList" }, "INCOMPLETE_ANSWER"],
    [{ kind: "truncatedPage" }, "INCOMPLETE_ANSWER"],
    [{ kind: "staleReplica", staleMs: 3_600_000 }, "INCOMPLETE_ANSWER"],
    [{ kind: "zoneOutage", zone: "north-a" }, "ZONE_UNREACHABLE"],
    [{ kind: "malformed" }, "INCOMPLETE_ANSWER"],
    [{ kind: "forbidden" }, "CLOUD_PERMISSION_DENIED"],
    [{ kind: "unauthenticated" }, "CLOUD_CREDENTIALS_INVALID"],
    [{ kind: "rateLimited" }, "RATE_LIMITED"],
    [{ kind: "internalError" }, "CLOUD_UNAVAILABLE"],
    [{ kind: "hang" }, "CLOUD_TIMEOUT"],
  ])("is never done, and Get never absent, on %j", async (fault, reason) => {
    await ensure();
    await provider.cloud.admin.addFault({ ...fault, operation: "loadBalancers.list" });
    expect([await failureOf(remove()), await failureOf(get())]).toEqual([reason, reason]);
    await provider.cloud.admin.clearFaults();
    expect(await inCloud()).toHaveLength(1);
  });
});
