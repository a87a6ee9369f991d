import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instanceSpecs, soon, startTestCloud, type TestCloud } from "../test/test-cloud.ts";

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud({
    accounts: [
      { id: "demo", key: "demo-key" },
      { id: "demo", key: "reader", role: "viewer" },
      { id: "other", key: "other-key" },
    ],
    instancePool: "127.10.0.0/16",
  });
});
afterAll(async () => cloud.close());

async function raw(method: string, path: string, options: { key?: string; body?: unknown; text?: string } = {}) {
  const text = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(new URL(path, cloud.url), {
    method,
    headers: {
      ...(options.key === "" ? {} : { authorization: `Bearer ${options.key ?? "demo-key"}` }),
      ...(text === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer: unknown = await response.json();
  return { status: response.status, requestId: response.headers.get("x-request-id"), answer };
}

describe("refusals", () => {
  const lb = { name: "x", listeners: [{ port: 80, protocol: "tcp", targetPort: 30_080 }] };
  test.each([
    [
      "no key",
      "GET",
      "/v1/instances",
      { key: "" },
      401,
      "Unauthenticated",
      "send the API key as `Authorization: Bearer <key>`",
    ],
    ["an unknown key", "GET", "/v1/instances", { key: "nope" }, 401, "Unauthenticated", "the API key is unknown"],
    [
      "a viewer's change",
      "DELETE",
      "/v1/instances/i-1",
      { key: "reader" },
      403,
      "AccessDenied",
      "the API key may only read: instances.terminate needs the role editor",
    ],
    ["an unknown path", "GET", "/v2/instances", {}, 404, "NoSuchEndpoint", "no GET /v2/instances"],
    ["an unknown instance", "GET", "/v1/instances/i-1", {}, 404, "InstanceNotFound", "no instance i-1 in account demo"],
    [
      "no JSON",
      "POST",
      "/v1/instances",
      { text: "{" },
      400,
      "InvalidRequest",
      "Body is not valid JSON but content-type is set to 'application/json'",
    ],
    [
      "a wrong zone",
      "POST",
      "/v1/instances",
      { body: { items: [{ name: "a", zone: "moon" }] } },
      400,
      "InvalidRequest",
      'no zone "moon"; the zones are north-a, north-b, north-c, south-a, south-b',
    ],
    [
      "wrong fields",
      "POST",
      "/v1/load-balancers",
      { body: { ...lb, listeners: [{ port: 0, protocol: "udp", targetPort: 1 }], color: 1 } },
      400,
      "InvalidRequest",
      'body has unknown properties ["color"]; body.listeners.0.port must be >= 1; body.listeners.0.protocol must be one of ["tcp"]',
    ],
    [
      "a wrong page size",
      "GET",
      "/v1/instances?pageSize=5000",
      {},
      400,
      "InvalidRequest",
      "querystring.pageSize must be <= 1000",
    ],
    [
      "a port asked for twice",
      "POST",
      "/v1/load-balancers",
      { body: { ...lb, listeners: [...lb.listeners, ...lb.listeners] } },
      400,
      "InvalidRequest",
      "two listeners have port 80",
    ],
    [
      "a wrong source range",
      "POST",
      "/v1/load-balancers",
      { body: { ...lb, sourceRanges: ["10.0.0.1/8"] } },
      400,
      "InvalidRequest",
      'source range "10.0.0.1/8" is not a network in CIDR notation',
    ],
    [
      "an address outside the pool",
      "POST",
      "/v1/load-balancers",
      { body: { ...lb, requestedAddress: "127.0.0.1" } },
      400,
      "InvalidRequest",
      expect.stringContaining("address 127.0.0.1 is not in the pool"),
    ],
  ] as const)("%s", async (_, method, path, options, status, code, message) => {
    const refused = await raw(method, path, options);
    expect(refused).toEqual({
      status,
      requestId: expect.any(String),
      answer: { code, message, requestId: refused.requestId },
    });
  });
});

describe("instances", () => {
  test("are made many at once, each with addresses and a pod CIDR of its own", async () => {
    const startMs = performance.now();
    const specs = instanceSpecs(5000, { podCidr: true, externalAddress: true, ipv6: true });
    const made = await cloud.client.createInstances(specs, soon());
    expect(performance.now() - startMs).toBeLessThan(5000);
    expect(made).toHaveLength(5000);
    const unique = (values: (string | undefined)[]) => new Set(values).size;
    expect([
      unique(made.map(({ id }) => id)),
      unique(made.flatMap(({ internalAddresses }) => internalAddresses)),
      unique(made.flatMap(({ externalAddresses }) => externalAddresses)),
      unique(made.flatMap(({ podCidrs }) => podCidrs)),
    ]).toEqual([5000, 10_000, 10_000, 10_000]);
    expect(made[1]).toMatchObject({
      name: "node-1",
      zone: "north-b",
      region: "north",
      type: "small",
      state: "running",
      hostname: "node-1.north.simcloud.internal",
      internalAddresses: [expect.stringMatching(/^127\.10\./), expect.stringMatching(/^fd51:51::/)],
    });
  });

  test("are listed in pages that show one snapshot", async () => {
    const seen: string[] = [];
    let pageToken: string | undefined;
    let pages = 0;
    let last: { complete?: boolean } = {};
    do {
      const page = await cloud.client.listInstances({ pageSize: 1000, pageToken }, soon());
      if (pages === 0) await cloud.client.createInstances(instanceSpecs(1, { name: "late" }), soon());
      seen.push(...page.items.map(({ name }) => name));
      pageToken = page.nextPageToken;
      pages += 1;
      last = page;
    } while (pageToken !== undefined);
    expect({ pages, seen: new Set(seen).size, late: seen.includes("late"), complete: last.complete }).toEqual({
      pages: 5,
      seen: 5000,
      late: false,
      complete: true,
    });
  });

  test("refuse a page token of another list", async () => {
    const page = await cloud.client.listInstances({ pageSize: 1 }, soon());
    await expect(
      cloud.client.listInstances({ pageSize: 1, pageToken: page.nextPageToken, zone: ["north-a"] }, soon()),
    ).rejects.toMatchObject({
      failure: { kind: "refused", status: 400, code: "InvalidPageToken" },
    });
  });

  test("are filtered by zone, tag and name", async () => {
    const specs = [
      { name: "f-1", zone: "south-a", tags: { "a/b": "1" } },
      { name: "f-2", zone: "south-a", tags: { "a/b": "2" } },
      { name: "f-3", zone: "south-b", tags: { "a/b": "1" } },
    ];
    await cloud.client.createInstances(specs, soon());
    const names = async (filter: object) =>
      (await cloud.client.listInstances(filter, soon())).items.map(({ name }) => name).sort();
    expect(await names({ zone: ["south-a"] })).toEqual(["f-1", "f-2"]);
    expect(await names({ tag: ["a/b=1"] })).toEqual(["f-1", "f-3"]);
    expect(await names({ tag: ["a/b=1"], zone: ["south-b"] })).toEqual(["f-3"]);
    expect(await names({ name: ["f-2", "unknown"] })).toEqual(["f-2"]);
  });

  test("are looked up in one call that accounts for every id and name", async () => {
    const [one] = await cloud.client.createInstances(instanceSpecs(1, { name: "lookup-me" }), soon());
    const found = await cloud.client.lookupInstances(
      { ids: [one?.id ?? "", "i-nope"], names: ["lookup-me", "unknown"], consistent: true },
      soon(),
    );
    expect(found).toMatchObject({
      items: [{ id: one?.id }],
      missing: { ids: ["i-nope"], names: ["unknown"] },
      consistency: "strong",
      unreachable: { zones: [] },
    });
  });

  test("leave a tombstone when they are terminated", async () => {
    const [{ id } = { id: "" }] = await cloud.client.createInstances(
      instanceSpecs(1, { name: "doomed", podCidr: true }),
      soon(),
    );
    await cloud.client.terminateInstances([id], soon());
    const { items } = await cloud.client.lookupInstances({ ids: [id] }, soon());
    expect(items).toMatchObject([
      { id, state: "terminated", terminatedAt: expect.any(String), internalAddresses: [], podCidrs: [] },
    ]);
    await expect(cloud.client.startInstance(id, soon())).rejects.toMatchObject({ failure: { code: "InvalidState" } });
    await cloud.client.terminateInstances([id], soon());
  });

  test("of another account do not exist", async () => {
    const { items } = await cloud.client.listInstances({ pageSize: 1 }, soon());
    const refused = await raw("GET", `/v1/instances/${items[0]?.id ?? ""}`, { key: "other-key" });
    expect(refused).toMatchObject({ status: 404, answer: { code: "InstanceNotFound" } });
  });
});

describe("volumes", () => {
  test("are made, looked up and deleted", async () => {
    const volume = await cloud.client.createVolume({ name: "data", zone: "south-b", sizeGiB: 10 }, soon());
    expect(volume).toMatchObject({ zone: "south-b", region: "south", sizeGiB: 10, state: "available" });
    const before = await cloud.client.lookupVolumes([volume.id, "vol-nope"], true, soon());
    expect(before).toMatchObject({ items: [{ id: volume.id }], missing: { ids: ["vol-nope"] } });
    await cloud.client.deleteVolume(volume.id, soon());
    expect((await cloud.client.lookupVolumes([volume.id], true, soon())).missing?.ids).toEqual([volume.id]);
  });
});

describe("routes", () => {
  test("are made and deleted in batches whose items fail on their own", async () => {
    const [a, b] = await cloud.client.createInstances(instanceSpecs(2, { tags: { for: "routes" } }), soon());
    const [idA = "", idB = ""] = [a?.id, b?.id];
    const made = await cloud.client.createRoutes(
      [
        { destination: "10.1.0.0/24", instanceId: idA, tags: { owner: "me" } },
        { destination: "10.1.0.0/24", instanceId: idB },
        { destination: "10.1.1.5/24", instanceId: idB },
        { destination: "10.1.2.0/24", instanceId: "i-nope" },
        { destination: "fd00::/64", instanceId: idB },
      ],
      soon(),
    );
    expect(made.results.map(({ route, error }) => route?.state ?? error?.code)).toEqual([
      "active",
      "RouteExists",
      "InvalidRequest",
      "InstanceNotFound",
      "active",
    ]);
    await cloud.client.terminateInstances([idB], soon());
    const listed = await cloud.client.listRoutes({}, soon());
    expect(listed.items.map(({ destination, state }) => `${destination} ${state}`).sort()).toEqual([
      "10.1.0.0/24 active",
      "fd00::/64 blackhole",
    ]);
    const ids = listed.items.map(({ id }) => id);
    const gone = await cloud.client.deleteRoutes([...ids, "rt-nope"], soon());
    expect(gone.results.map(({ route, error }) => (route ? "gone" : error?.code))).toEqual([
      "gone",
      "gone",
      "RouteNotFound",
    ]);
  });
});

describe("change feed", () => {
  test("continues a list without a gap and waits for what comes", async () => {
    const page = await cloud.client.listInstances({ pageSize: 1, name: ["unknown"] }, soon());
    const waiting = cloud.client.events({ after: page.snapshot, kind: ["instance"], waitMs: 10_000 }, soon());
    const [made] = await cloud.client.createInstances(instanceSpecs(1, { name: "watched" }), soon());
    const first = await waiting;
    expect(first.events).toMatchObject([
      { kind: "instance", id: made?.id, type: "created", resource: { name: "watched" } },
    ]);
    await cloud.client.stopInstance(made?.id ?? "", soon());
    const second = await cloud.client.events({ after: first.resumeToken }, soon());
    expect(second.events).toMatchObject([{ id: made?.id, type: "updated", resource: { state: "stopped" } }]);
    expect(await cloud.client.events({ after: second.resumeToken, waitMs: 20 }, soon())).toMatchObject({ events: [] });
  });

  test("refuses a token it has not come to", async () => {
    await expect(cloud.client.events({ after: "999999999" }, soon())).rejects.toMatchObject({
      failure: { kind: "refused", status: 410, code: "EventsExpired" },
    });
  });
});

describe("admin", () => {
  test("counts calls by operation, and those that change something", async () => {
    await cloud.admin.resetCalls();
    await cloud.client.listInstances({ pageSize: 1 }, soon());
    await cloud.client.createVolume({ name: "v", zone: "north-a", sizeGiB: 1 }, soon());
    await raw("GET", "/v1/instances/i-nope");
    expect(await cloud.admin.calls()).toEqual({
      total: 3,
      mutating: 1,
      operations: [
        { operation: "instances.get", mutating: false, calls: 1, inFlight: 0, byStatus: { "404": 1 } },
        { operation: "instances.list", mutating: false, calls: 1, inFlight: 0, byStatus: { "200": 1 } },
        { operation: "volumes.create", mutating: true, calls: 1, inFlight: 0, byStatus: { "201": 1 } },
      ],
    });
    const log = await cloud.admin.log(1);
    expect(log).toMatchObject([
      { operation: "instances.get", status: 404, account: "demo", path: "/v1/instances/i-nope" },
    ]);
  });

  test("remembers which instances were asked about, alone, in a batch and in a list, until the counts are reset", async () => {
    const zone = "north-a";
    const specs = ["asked-one", "asked-two", "asked-three", "asked-never"].map((name) => ({ name, zone }));
    const made = await cloud.client.createInstances(specs, soon());
    const [one = "", two = "", three = ""] = made.map(({ id }) => id);
    await cloud.admin.resetCalls();
    await raw("GET", `/v1/instances/${one}`);
    await cloud.client.lookupInstances({ ids: [two, "i-nope"] }, soon());
    await cloud.client.listInstances({ name: ["asked-three"] }, soon());
    const asked = await cloud.admin.instancesAsked();
    expect([...asked.keys()].toSorted()).toEqual([one, two, three, "i-nope"].toSorted());
    await cloud.admin.resetCalls();
    expect((await cloud.admin.instancesAsked()).size).toBe(0);
  });

  test("enforces quotas", async () => {
    await cloud.admin.change({ quotas: { volumes: 0 } });
    await expect(cloud.client.createVolume({ name: "v", zone: "north-a", sizeGiB: 1 }, soon())).rejects.toMatchObject({
      failure: { status: 403, code: "QuotaExceeded" },
    });
    await cloud.admin.resetSettings();
  });

  test("limits the rate and says when to come back", async () => {
    await cloud.admin.change({ rateLimit: { perSecond: 0.5, burst: 1 } });
    await cloud.client.account(soon());
    await expect(cloud.client.account(soon())).rejects.toMatchObject({
      failure: { status: 429, code: "RateLimited", retryAfterMs: 2000 },
    });
    await cloud.admin.resetSettings();
  });

  test("lets reads that are not consistent lag behind", async () => {
    await cloud.admin.change({ consistency: { getLagMs: 60_000, listLagMs: 60_000 } });
    const [made] = await cloud.client.createInstances(instanceSpecs(1, { name: "fresh" }), soon());
    const ids = [made?.id ?? ""];
    expect(await cloud.client.lookupInstances({ ids }, soon())).toMatchObject({
      items: [],
      missing: { ids },
      consistency: "eventual",
    });
    expect(await cloud.client.lookupInstances({ ids, consistent: true }, soon())).toMatchObject({
      items: [{ id: ids[0] }],
      consistency: "strong",
    });
    expect(await cloud.client.listInstances({ name: ["fresh"] }, soon())).toMatchObject({ items: [] });
    await cloud.admin.resetSettings();
  });

  test("delays operations by pattern", async () => {
    await cloud.admin.change({ latency: { "account.*": { fixedMs: 80, jitterMs: 20 } } });
    const startMs = performance.now();
    await cloud.client.account(soon());
    const tookMs = performance.now() - startMs;
    await cloud.admin.resetSettings();
    expect(tookMs).toBeGreaterThanOrEqual(79);
  });

  test("answers this machine only, or asks for its key", async () => {
    await using guarded = await startTestCloud({ adminKey: "secret" });
    await expect(guarded.admin.calls()).rejects.toMatchObject({ failure: { status: 401 } });
    const response = await fetch(new URL("/admin/v1/calls", guarded.url), { headers: { "x-admin-key": "secret" } });
    expect(response.status).toBe(200);
  });
});
