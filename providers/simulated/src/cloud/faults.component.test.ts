import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FaultSpec } from "../api/admin.ts";
import { instanceSpecs, soon, startTestCloud, type TestCloud } from "../test/test-cloud.ts";

let cloud: TestCloud;
let ids: string[];
beforeAll(async () => {
  cloud = await startTestCloud();
  ids = (await cloud.client.createInstances(instanceSpecs(4), soon())).map(({ id }) => id);
});
afterEach(async () => {
  await cloud.admin.clearFaults();
});
afterAll(async () => cloud.close());

const lookup = async (signal = soon()) =>
  cloud.client.lookupInstances({ ids, names: ["unknown"], consistent: true }, signal);

describe("faults that replace the answer", () => {
  test.each<[FaultSpec, object]>([
    [{ kind: "unauthenticated" }, { kind: "refused", status: 401, code: "Unauthenticated" }],
    [{ kind: "forbidden" }, { kind: "refused", status: 403, code: "AccessDenied" }],
    [
      { kind: "rateLimited", retryAfterSeconds: 7 },
      { kind: "refused", status: 429, code: "RateLimited", retryAfterMs: 7000 },
    ],
    [{ kind: "internalError" }, { kind: "refused", status: 500, code: "InternalError" }],
    [{ kind: "unavailable" }, { kind: "refused", status: 503, code: "ServiceUnavailable" }],
    [{ kind: "reset" }, { kind: "noAnswer" }],
    [{ kind: "malformed" }, { kind: "unreadable", status: 200 }],
  ])("%j", async (fault, failure) => {
    await cloud.admin.addFault({ ...fault, operation: "instances.*", count: 1 });
    await expect(lookup()).rejects.toMatchObject({ failure });
    expect((await lookup()).items).toHaveLength(4);
  });

  test("hang: no answer until the client gives up", async () => {
    await cloud.admin.resetCalls();
    await cloud.admin.addFault({ kind: "hang", count: 1 });
    await expect(lookup(AbortSignal.timeout(100))).rejects.toMatchObject({ failure: { kind: "aborted" } });
    const [logged] = await cloud.admin.log(1);
    expect(logged).toMatchObject({ operation: "instances.lookup", status: 0, faults: ["hang"] });
  });

  test("phase after: the change is made, its answer is lost", async () => {
    const create = async (name: string) => cloud.client.createVolume({ name, zone: "north-a", sizeGiB: 1 }, soon());
    await cloud.admin.addFault({ kind: "reset", phase: "after", operation: "volumes.create", count: 1 });
    await expect(create("lost")).rejects.toMatchObject({ failure: { kind: "noAnswer" } });
    await cloud.admin.addFault({ kind: "internalError", phase: "after", operation: "volumes.create", count: 1 });
    await expect(create("denied")).rejects.toMatchObject({ failure: { status: 500 } });
    const { items } = await cloud.client.listVolumes({}, soon());
    expect(new Set(items.map(({ name }) => name))).toEqual(new Set(["lost", "denied"]));
  });
});

describe("faults that spoil the data", () => {
  test.each<[FaultSpec, object, object]>([
    [{ kind: "emptyList" }, { items: 0, missing: undefined, consistency: "strong" }, { items: 0, complete: undefined }],
    [
      { kind: "truncatedPage" },
      { items: 2, missing: undefined, consistency: "strong" },
      { items: 2, complete: undefined },
    ],
    [
      { kind: "staleReplica", staleMs: 3_600_000 },
      { items: 0, missing: 5, consistency: "eventual" },
      { items: 0, complete: true },
    ],
    [
      { kind: "zoneOutage", zone: "north-a" },
      { items: 2, missing: undefined, consistency: "strong" },
      { items: 2, complete: false },
    ],
    [{ kind: "falseAbsence" }, { items: 0, missing: 5, consistency: "strong" }, { items: 0, complete: true }],
  ])("%j", async (fault, expectedLookup, expectedList) => {
    await cloud.admin.addFault(fault);
    const looked = await lookup();
    const missing = looked.missing && looked.missing.ids.length + looked.missing.names.length;
    expect({ items: looked.items.length, missing, consistency: looked.consistency }).toEqual(expectedLookup);
    const page = await cloud.client.listInstances({}, soon());
    expect({ items: page.items.length, complete: page.complete }).toEqual(expectedList);
  });

  test("a zone outage is reported, and nothing in the zone can be read or changed", async () => {
    await cloud.admin.addFault({ kind: "zoneOutage", zone: "north-a" });
    expect((await lookup()).unreachable).toEqual({ zones: ["north-a"] });
    const outage = { failure: { status: 503, code: "ServiceUnavailable" } };
    await expect(cloud.client.stopInstance(ids[0] ?? "", soon())).rejects.toMatchObject(outage);
    await expect(cloud.client.createInstances(instanceSpecs(1), soon())).rejects.toMatchObject(outage);
    const get = async (id: string) =>
      (await fetch(new URL(`/v1/instances/${id}`, cloud.url), { headers: { authorization: "Bearer demo-key" } }))
        .status;
    expect([await get(ids[0] ?? ""), await get(ids[1] ?? ""), await get("i-nope")]).toEqual([503, 200, 503]);
  });
});
