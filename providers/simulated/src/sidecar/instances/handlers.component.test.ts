import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  BatchGetInstancesRequest,
  type BatchGetInstancesResponse,
  InstanceState,
  type InstanceResult,
  ListInstancesRequest,
  WatchInstancesRequest,
  type WatchInstancesResponse,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Instance } from "../../api/instances.ts";
import type { FaultSpec } from "../../api/admin.ts";
import { poll } from "../../test/poll.ts";
import { instanceSpecs, soon } from "../../test/test-cloud.ts";
import { outcomeWord, reasonOf, startTestProvider, type TestProvider } from "../../test/test-provider.ts";

let provider: TestProvider;
beforeEach(async () => {
  provider = await startTestProvider({ callTimeoutMs: 1000, cloud: { instancePool: "127.10.0.0/16" } });
});
afterEach(async () => provider.close());

const providerIdOf = ({ zone, id }: Instance): string => `sim://${zone}/${id}`;

interface Ref {
  readonly name?: string;
  readonly providerId?: string | undefined;
  readonly createTime?: Date;
}

async function get(refs: readonly Ref[], maxDataAgeSeconds?: number): Promise<BatchGetInstancesResponse> {
  const nodes = refs.map(({ name = "some-node", providerId = "", createTime }) => ({ name, providerId, createTime }));
  const maxDataAge = maxDataAgeSeconds === undefined ? undefined : { seconds: BigInt(maxDataAgeSeconds), nanos: 0 };
  const request = BatchGetInstancesRequest.fromPartial({ context: provider.context, nodes, maxDataAge });
  return provider.call(provider.client.batchGetInstances.bind(provider.client), request);
}

/** Results, or the error of the whole call for each: a caller treats both alike. */
async function outcomes(refs: readonly Ref[], maxDataAgeSeconds?: number): Promise<string[]> {
  try {
    return (await get(refs, maxDataAgeSeconds)).results.map((result: InstanceResult) => outcomeWord(result));
  } catch (error) {
    return refs.map(() => `unknown ${reasonOf(error)}`);
  }
}

describe("BatchGetInstances", () => {
  test("answers with everything Kubernetes takes over", async () => {
    const [made] = await provider.cloud.client.createInstances(
      instanceSpecs(1, { podCidr: true, externalAddress: true, ipv6: true, type: "large" }),
      soon(),
    );
    const { results, scopeId, stats } = await get([{ name: "node-0" }]);
    const { INTERNAL_IP, EXTERNAL_IP, INTERNAL_DNS, HOSTNAME } = NodeAddressType;
    expect(results).toMatchObject([
      {
        outcome: {
          $case: "instance",
          value: {
            providerId: made && providerIdOf(made),
            name: "node-0",
            instanceType: "large",
            zone: "north-a",
            region: "north",
            state: InstanceState.RUNNING,
            podCidrs: { cidrs: made?.podCidrs },
            addresses: [
              ...(made?.internalAddresses ?? []).map((address) => ({ type: INTERNAL_IP, address })),
              ...(made?.externalAddresses ?? []).map((address) => ({ type: EXTERNAL_IP, address })),
              { type: INTERNAL_DNS, address: "node-0.north.simcloud.internal" },
              { type: HOSTNAME, address: "node-0.north.simcloud.internal" },
            ],
          },
        },
      },
    ]);
    expect({ scopeId, calls: stats?.cloudCalls, mutations: stats?.cloudMutations }).toEqual({
      scopeId: "simcloud/demo",
      calls: 1,
      mutations: 0,
    });
  });

  test("answers a thousand nodes with one call of the cloud", async () => {
    const made = await provider.cloud.client.createInstances(instanceSpecs(1000), soon());
    await provider.cloud.admin.resetCalls();
    const refs = made.map((instance, index) =>
      index % 2 === 0 ? { providerId: providerIdOf(instance) } : { name: instance.name },
    );
    expect(new Set(await outcomes(refs))).toEqual(new Set(["instance"]));
    expect(await provider.cloud.admin.calls()).toMatchObject({ total: 1, mutating: 0 });
  });

  test("takes a terminated instance for that of a Node by its name only if the Node was created before (case N-1)", async () => {
    const [gone] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    const before = new Date(Date.now() - 60_000);
    await provider.cloud.client.terminateInstances([gone?.id ?? ""], soon());
    const after = new Date(Date.now() + 60_000);
    const results = await outcomes([
      { name: "node-0" },
      { name: "node-0", createTime: before },
      { name: "node-0", createTime: after },
      { providerId: gone && providerIdOf(gone), createTime: after },
    ]);
    expect(results).toEqual(["absent TERMINATED", "absent TERMINATED", "absent LOOKUP_MISS", "absent TERMINATED"]);
  });

  test("distinguishes present, absent, not owned and unknown, item by item", async () => {
    const [alive, gone, twinA, twinB] = await provider.cloud.client.createInstances(
      [...instanceSpecs(2), ...instanceSpecs(2, { name: "twin" })],
      soon(),
    );
    await provider.cloud.client.terminateInstances([gone?.id ?? ""], soon());
    const aliveId = alive ? providerIdOf(alive) : "";
    const results = await outcomes([
      { providerId: aliveId },
      { name: "node-0" },
      { providerId: gone && providerIdOf(gone) },
      { providerId: "sim://north-a/i-000000000000" },
      { name: "unknown" },
      { providerId: "aws:///eu-1/i-1" },
      { providerId: "sim://garbage" },
      { providerId: aliveId.replace("north-a", "north-b") },
      { name: "twin" },
      { providerId: twinB && providerIdOf(twinB) },
      { providerId: twinA && providerIdOf(twinA) },
    ]);
    expect(results).toEqual([
      "instance",
      "instance",
      "absent TERMINATED",
      "absent LOOKUP_MISS",
      "absent LOOKUP_MISS",
      "notOwned",
      "unknown PROVIDER_ID_MALFORMED",
      "unknown PROVIDER_ID_MALFORMED",
      "unknown AMBIGUOUS_NAME",
      "instance",
      "instance",
    ]);
  });

  test("takes the new machine when one was made again under the old name", async () => {
    const [old] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    await provider.cloud.client.terminateInstances([old?.id ?? ""], soon());
    const [fresh] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    const { results } = await get([{ name: "node-0" }, { name: "node-0", providerId: old && providerIdOf(old) }]);
    expect(results).toMatchObject([
      { outcome: { $case: "instance", value: { providerId: fresh && providerIdOf(fresh) } } },
      { outcome: { $case: "absent" } },
    ]);
  });

  test.each([
    ["stop", InstanceState.STOPPED],
    ["start", InstanceState.RUNNING],
  ] as const)("shows the state after %s", async (action, state) => {
    const [made] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    await provider.cloud.client.stopInstance(made?.id ?? "", soon());
    if (action === "start") await provider.cloud.client.startInstance(made?.id ?? "", soon());
    expect((await get([{ name: "node-0" }])).results).toMatchObject([{ outcome: { value: { state } } }]);
  });

  test("sees past the lag of the cloud's replicas", async () => {
    await provider.cloud.admin.change({ consistency: { getLagMs: 60_000, listLagMs: 60_000 } });
    const [made] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    expect(await outcomes([{ providerId: made && providerIdOf(made) }], 0)).toEqual(["instance"]);
  });
});

describe("no fault of the cloud ever yields an absence", () => {
  const rows: readonly (readonly [fault: FaultSpec, present: string, missing: string])[] = [
    [{ kind: "unauthenticated" }, "unknown CLOUD_CREDENTIALS_INVALID", "unknown CLOUD_CREDENTIALS_INVALID"],
    [{ kind: "forbidden" }, "unknown CLOUD_PERMISSION_DENIED", "unknown CLOUD_PERMISSION_DENIED"],
    [{ kind: "rateLimited" }, "unknown RATE_LIMITED", "unknown RATE_LIMITED"],
    [{ kind: "internalError" }, "unknown CLOUD_UNAVAILABLE", "unknown CLOUD_UNAVAILABLE"],
    [{ kind: "unavailable" }, "unknown CLOUD_UNAVAILABLE", "unknown CLOUD_UNAVAILABLE"],
    [{ kind: "hang" }, "unknown CLOUD_TIMEOUT", "unknown CLOUD_TIMEOUT"],
    [{ kind: "reset" }, "unknown CLOUD_UNAVAILABLE", "unknown CLOUD_UNAVAILABLE"],
    [{ kind: "malformed" }, "unknown INCOMPLETE_ANSWER", "unknown INCOMPLETE_ANSWER"],
    [{ kind: "emptyList" }, "unknown INCOMPLETE_ANSWER", "unknown INCOMPLETE_ANSWER"],
    [{ kind: "staleReplica", staleMs: 3_600_000 }, "unknown INCOMPLETE_ANSWER", "unknown INCOMPLETE_ANSWER"],
    [{ kind: "staleReplica", staleMs: 1 }, "unknown INCOMPLETE_ANSWER", "unknown INCOMPLETE_ANSWER"],
    [{ kind: "zoneOutage", zone: "north-a" }, "unknown ZONE_UNREACHABLE", "unknown ZONE_UNREACHABLE"],
    [{ kind: "zoneOutage", zone: "south-a" }, "instance", "unknown ZONE_UNREACHABLE"],
  ];

  async function lookAround() {
    const specs = ["alive", "dead"].map((name) => ({ name, zone: "north-a" }));
    const [alive, dead] = await provider.cloud.client.createInstances(specs, soon());
    await provider.cloud.client.terminateInstances([dead?.id ?? ""], soon());
    const present = [{ providerId: alive && providerIdOf(alive) }, { name: "alive" }];
    const missing = [
      { providerId: "sim://north-a/i-000000000000" },
      { name: "unknown" },
      { providerId: dead && providerIdOf(dead) },
    ];
    return async () => {
      const results = await outcomes([...present, ...missing], 0);
      return { present: results.slice(0, 2), missing: results.slice(2) };
    };
  }

  test.each(rows)("%j", async (fault, present, missing) => {
    const ask = await lookAround();
    await provider.cloud.admin.addFault(fault);
    expect(await ask()).toEqual({ present: [present, present], missing: [missing, missing, missing] });
    await provider.cloud.admin.clearFaults();
    expect(await ask()).toEqual({
      present: ["instance", "instance"],
      missing: ["absent LOOKUP_MISS", "absent LOOKUP_MISS", "absent TERMINATED"],
    });
  });

  test("a truncated page: what arrived is present, all else is unknown", async () => {
    const ask = await lookAround();
    await provider.cloud.admin.addFault({ kind: "truncatedPage" });
    const { present, missing } = await ask();
    expect(new Set([...present, ...missing])).toEqual(new Set(["instance", "unknown INCOMPLETE_ANSWER"]));
    expect(missing).toEqual(Array(3).fill("unknown INCOMPLETE_ANSWER"));
  });

  test("nor does a key that was given to another account", async () => {
    let key = "demo-key";
    const accounts = [
      { id: "demo", key: "demo-key" },
      { id: "other", key: "other-key" },
    ];
    const switching = await startTestProvider({ apiKey: () => key, cloud: { accounts } });
    await switching.cloud.client.createInstances(instanceSpecs(1), soon());
    key = "other-key";
    const nodes = [{ name: "node-0" }];
    const request = BatchGetInstancesRequest.fromPartial({ context: switching.context, nodes });
    const asked = switching.call(switching.client.batchGetInstances.bind(switching.client), request).catch(reasonOf);
    expect(await asked).toBe("SCOPE_MISMATCH");
    await switching.close();
  });
});

test("a call that the caller gave up stops asking the cloud", async () => {
  const patient = await startTestProvider({ callTimeoutMs: 60_000 });
  await patient.cloud.admin.addFault({ kind: "hang", operation: "instances.lookup" });
  const request = BatchGetInstancesRequest.fromPartial({ context: patient.context, nodes: [{ name: "node-0" }] });
  const asked = patient.call(patient.client.batchGetInstances.bind(patient.client), request, 200);
  await expect(asked).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  const logged = await poll("the end of the cloud's call", async () => (await patient.cloud.admin.log())[1]);
  expect(logged).toMatchObject({ operation: "instances.lookup", status: 0 });
  expect(logged.durationMs).toBeLessThan(5000);
  await patient.close();
});

describe("ListInstances", () => {
  async function listAll(): Promise<{ names: string[]; unreachable: string[]; complete: boolean; pages: number }> {
    const names: string[] = [];
    let pageToken = "";
    let pages = 0;
    for (;;) {
      const request = ListInstancesRequest.fromPartial({ context: provider.context, pageSize: 400, pageToken });
      const page = await provider.call(provider.client.listInstances.bind(provider.client), request);
      names.push(...page.instances.map(({ name }) => name));
      pages += 1;
      pageToken = page.nextPageToken;
      if (pageToken === "") return { names, unreachable: page.unreachable.map(String), complete: page.complete, pages };
    }
  }

  test("lists all that exists, and says so", async () => {
    const made = await provider.cloud.client.createInstances(instanceSpecs(1200), soon());
    await provider.cloud.client.terminateInstances([made[0]?.id ?? ""], soon());
    await provider.cloud.admin.resetCalls();
    const listed = await listAll();
    expect({ ...listed, names: new Set(listed.names).size }).toEqual({
      names: 1199,
      unreachable: [],
      complete: true,
      pages: 3,
    });
    expect((await provider.cloud.admin.calls()).total).toBeLessThanOrEqual(6);
  });

  test("names a zone that cannot be reached and is not complete", async () => {
    await provider.cloud.client.createInstances(instanceSpecs(3), soon());
    await provider.cloud.admin.addFault({ kind: "zoneOutage", zone: "north-b" });
    const listed = await listAll();
    expect({ ...listed, names: listed.names.toSorted() }).toEqual({
      names: ["node-0", "node-2"],
      unreachable: ["north-b"],
      complete: false,
      pages: 1,
    });
  });

  test.each<FaultSpec["kind"]>(["emptyList", "truncatedPage"])("fails on %s", async (kind) => {
    await provider.cloud.client.createInstances(instanceSpecs(3), soon());
    await provider.cloud.admin.addFault({ kind });
    expect(await listAll().catch(reasonOf)).toBe("INCOMPLETE_ANSWER");
  });
});

describe("WatchInstances", () => {
  function watch(request: Partial<WatchInstancesRequest>) {
    const seen: WatchInstancesResponse[] = [];
    const stream = provider.client.watchInstances(
      WatchInstancesRequest.fromPartial({ context: provider.context, ...request }),
    );
    let failure: unknown;
    stream.on("data", (event: WatchInstancesResponse) => seen.push(event));
    stream.on("error", (error) => {
      failure = error;
    });
    const words = () =>
      seen.flatMap(({ event }) => {
        if (event?.$case === "upsert") return [`upsert ${event.value.name} ${event.value.state}`];
        if (event?.$case === "gone") return [`gone ${event.value.providerId}`];
        return event?.$case === "bookmark" && event.value.initialEventsEnd ? ["initial end"] : [];
      });
    return {
      words,
      token: () => seen.at(-1)?.resumeToken ?? "",
      failure: () => failure,
      cancel: () => stream.cancel(),
    };
  }

  test("shows what is, then what changes, and continues after a break", async () => {
    const [first] = await provider.cloud.client.createInstances(instanceSpecs(1), soon());
    const one = watch({ sendInitialEvents: true });
    await poll("the initial events", () => one.words().includes("initial end") || undefined);
    await provider.cloud.client.stopInstance(first?.id ?? "", soon());
    await poll("the stop", () => one.words().length === 3 || undefined);
    const token = one.token();
    one.cancel();
    await provider.cloud.client.terminateInstances([first?.id ?? ""], soon());
    const two = watch({ resumeToken: token });
    await poll("the end", () => two.words().at(-1)?.startsWith("gone") || undefined);
    two.cancel();
    const { RUNNING, STOPPED } = InstanceState;
    expect(one.words()).toEqual([`upsert node-0 ${RUNNING}`, "initial end", `upsert node-0 ${STOPPED}`]);
    expect(two.words().at(-1)).toBe(`gone ${first && providerIdOf(first)}`);
  });

  test.each(["garbage", "999999999"])("refuses the resume token %s", async (resumeToken) => {
    const stream = watch({ resumeToken });
    await poll("the refusal", stream.failure);
    expect(reasonOf(stream.failure())).toBe("RESUME_TOKEN_EXPIRED");
  });
});
