import { createTestClock, type FakeCloud, startFakeCloud, startTestProvider } from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpenStackProvider } from "./provider.ts";

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const pageSize = 1000;
const tokenLifeMs = 3_600_000;

let cloud: FakeCloud;
let names: Map<string, string>;
/** Tokens that are good, the newest last. */
let tokens: string[];
/** Whether some servers cannot be read. */
let downCell: readonly string[];

const server = (id: string, name: string) => ({
  id,
  name,
  status: "ACTIVE",
  created: "2026-01-02T03:04:05Z",
  addresses: { private: [{ addr: "10.0.0.7", version: 4, "OS-EXT-IPS:type": "fixed" }] },
  flavor: { original_name: "m1.small" },
  "OS-EXT-AZ:availability_zone": "nova",
});

const clock = createTestClock();

/** Serves as Nova does: pages behind a marker, patterns of names, 404 for what does not exist. */
const serveNova = (): void => {
  const authorized = (headers: Readonly<Record<string, string | string[] | undefined>>): boolean =>
    tokens.includes(String(headers["x-auth-token"]));
  const unauthorized = { status: 401, body: { error: { code: 401, message: "no", title: "Unauthorized" } } };
  cloud.serve({
    "POST /v3/auth/tokens": () => {
      const token = `token-${tokens.length + 1}`;
      tokens.push(token);
      const endpoints = [{ interface: "public", region_id: "one", url: `${cloud.url}/compute/v2.1` }];
      const expires = new Date(clock.nowMs() + tokenLifeMs).toISOString();
      const body = {
        token: { expires_at: expires, project: { id: "project" }, catalog: [{ type: "compute", endpoints }] },
      };
      return { status: 201, headers: { "x-subject-token": token }, body };
    },
    "GET /compute/v2.1/servers": ({ headers }) => (authorized(headers) ? { body: { servers: [] } } : unauthorized),
    "GET /compute/v2.1/servers/detail": ({ headers, query }) => {
      if (!authorized(headers)) return unauthorized;
      const name = query["name"];
      const marker = query["marker"];
      const all = [...names]
        .filter(([, own]) => name === undefined || new RegExp(name).test(own))
        // Like Nova, which reports unresponsive cells only in unfiltered requests.
        .filter(([id]) => (name === undefined && marker === undefined) || !downCell.includes(id))
        .toSorted(([left], [right]) => (left < right ? -1 : 1));
      const from = marker === undefined ? 0 : all.findIndex(([id]) => id === marker) + 1;
      const page = all.slice(from, from + pageSize);
      const links = from + pageSize < all.length ? [{ rel: "next", href: "" }] : [];
      const servers = page.map(([id, own]) => (downCell.includes(id) ? { id, status: "UNKNOWN" } : server(id, own)));
      return { body: { servers, servers_links: links } };
    },
    "GET /compute/v2.1/servers/:id": ({ headers, params }) => {
      if (!authorized(headers)) return unauthorized;
      const id = params["id"] ?? "";
      const name = names.get(id);
      if (name === undefined) return { status: 404, body: { itemNotFound: { code: 404, message: "gone" } } };
      return { body: { server: downCell.includes(id) ? { id, status: "UNKNOWN" } : server(id, name) } };
    },
  });
};

beforeEach(async () => {
  cloud = await startFakeCloud();
  names = new Map([1, 2, 3].map((number) => [uuid(number), `node-${number}`]));
  tokens = [];
  downCell = [];
  serveNova();
});
afterEach(() => cloud.close());

const startProvider = () =>
  startTestProvider(
    createOpenStackProvider(
      {
        authUrl: `${cloud.url}/v3`,
        applicationCredentialId: "0".repeat(32),
        readSecret: async () => "word",
        region: "one",
        endpointInterface: "public",
        regionInIds: false,
        internalNetworks: [],
        publicNetworks: [],
        ipFamilies: ["IPv4"],
        watchIntervalMs: 10_000,
        callRate: { cloudCallsPerSecond: 10, burst: 50 },
      },
      () => clock.nowMs(),
    ),
  );

const ask = async (
  client: Awaited<ReturnType<typeof startProvider>>["client"],
  nodes: readonly { readonly name: string; readonly providerId?: string }[],
) => (await client.batchGetInstances({ nodes: [...nodes] })).results.map(({ outcome }) => outcome);

const paths = () => cloud.requests.map(({ method, path }) => `${method} ${path.split("?")[0]}`);
const byId = (number: number) => ({ name: `node-${number}`, providerId: `openstack:///${uuid(number)}` });

describe("createOpenStackProvider()", () => {
  test("returns servers by ID and name, and absences", async () => {
    await using provider = await startProvider();
    const outcomes = await ask(provider.client, [byId(1), { name: "node-2" }, byId(9), { name: "node-9" }]);
    expect(outcomes.map((outcome) => outcome?.$case)).toEqual(["instance", "instance", "absent", "absent"]);
    expect(outcomes[0]).toMatchObject({
      value: { providerId: `openstack:///${uuid(1)}`, instanceType: "m1.small", zone: "nova", region: "one" },
    });
  });

  test("does not ask Nova for a name that its database fails at", async () => {
    names.set(uuid(4), "узел-🚀");
    await using provider = await startProvider();
    expect((await ask(provider.client, [{ name: "узел-🚀" }]))[0]?.$case).toBe("instance");
    expect(cloud.requests.flatMap(({ query }) => query["name"] ?? [])).toEqual([]);
  });

  test("looks many servers up in few requests", async () => {
    names = new Map(Array.from({ length: 2_500 }, (_, index) => [uuid(index), `node-${index}`]));
    await using provider = await startProvider();
    await ask(
      provider.client,
      [...names].slice(0, 900).map(([id, name]) => ({ name, providerId: `openstack:///${id}` })),
    );
    expect(paths().filter((path) => path.includes("/servers/"))).toEqual(
      Array.from({ length: 3 }, () => "GET /compute/v2.1/servers/detail"),
    );
  });

  test("concludes nothing from a cell that does not answer", async () => {
    downCell = [uuid(2)];
    await using provider = await startProvider();
    const outcomes = await ask(provider.client, [byId(2), { name: "node-2" }, { name: "node-9" }, byId(1)]);
    expect(outcomes.map((outcome) => outcome?.$case)).toEqual(["unknown", "unknown", "unknown", "instance"]);
  });

  test("concludes nothing for a name from more than one page", async () => {
    names = new Map(Array.from({ length: 1_500 }, (_, index) => [uuid(index), `node-${index}`]));
    await using provider = await startProvider();
    const outcomes = await ask(provider.client, [{ name: "node-7" }, { name: "node-9999" }]);
    expect(outcomes.map((outcome) => outcome?.$case)).toEqual(["instance", "unknown"]);
    expect((await ask(provider.client, [byId(8_888)]))[0]?.$case).toBe("absent");
  });

  test("gets another token when one was revoked, and concludes nothing in the call that met it", async () => {
    await using provider = await startProvider();
    expect((await ask(provider.client, [byId(1)]))[0]?.$case).toBe("instance");
    tokens = ["revoked"];
    expect((await ask(provider.client, [byId(1)]))[0]?.$case).toBe("instance");
    expect((await ask(provider.client, [byId(9)]))[0]?.$case).toBe("absent");
    expect(tokens).toEqual(["revoked", "token-2"]);
  });

  test("gets another token before one ends", async () => {
    await using provider = await startProvider();
    await ask(provider.client, [byId(1)]);
    await clock.advance(tokenLifeMs - 240_000);
    await ask(provider.client, [byId(1)]);
    expect(tokens).toHaveLength(2);
  });
});
