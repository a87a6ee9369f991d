import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { node, service, taint } from "../../../test/support/builders.ts";
import { EventReader } from "../../../test/support/kube/event-reader.ts";
import { snapshot } from "../../../test/support/explain/explain-builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { keyedController } from "../../../test/support/keyed-controller.ts";
import { type OverviewHarness, startOverviewHarness } from "../../../test/support/explain/overview-harness.ts";
import { CLOUD_NODE_LIFECYCLE_CONTROLLER } from "../../api/controller-names.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { requeueAfter } from "../../runtime/reconciler.ts";

const POLL = { timeout: 20_000, interval: 20 };

let world: OverviewHarness;
let end: AbortController;

beforeEach(async () => {
  end = new AbortController();
  world = await startOverviewHarness(true);
});

afterEach(async () => {
  end.abort();
  await world[Symbol.asyncDispose]();
});

const stream = (): Promise<EventReader> => EventReader.open(`${world.url}/debug/stream`, end.signal);

async function json(path: string): Promise<unknown> {
  const response = await fetch(`${world.url}${path}`);
  return response.json();
}

const owned = (name: string) => node(name, { spec: { providerID: `acme://${name}` } });
const fresh = (name: string) => node(name, { spec: { taints: [taint(UNINITIALIZED)] } });

describe("the stream", () => {
  test("sends everything, then changes, then deletions", async () => {
    world.nodes.set(owned("a"));
    world.nodes.set(fresh("b"));
    world.services.set(service("web"));
    const reader = await stream();
    await vi.waitFor(() => expect(reader.received.some(({ complete }) => complete !== undefined)).toBe(true), POLL);
    const names = reader.received.map((event) => Object.keys(event)[0]);
    expect(names.slice(0, 3)).toEqual(["overview", "rows", "complete"]);
    expect(reader.received[0]?.overview).toMatchObject({
      cluster: "test",
      replica: { identity: "replica-1", isLeader: true, version: "1.2.3" },
      observing: false,
      counts: { node: { ok: 1, progressing: 1 }, provider: { ok: 1 } },
      providers: [
        { name: "east", connection: "ready", ready: true, deletionCircuitBreaker: { open: false, absentNodes: 0 } },
      ],
      alarms: [],
    });
    expect(reader.received.find(({ complete }) => complete !== undefined)?.complete).toEqual({ rows: 6 });
    expect(reader.rows).toMatchObject({ "node/a": "ok", "node/b": "progressing", "provider/east": "ok" });
    expect(Object.keys(reader.rows)).toContain("service/default/web");

    world.nodes.set(owned("b"));
    await vi.waitFor(() => expect(reader.rows).toMatchObject({ "node/b": "ok" }), POLL);
    world.nodes.delete("a");
    await vi.waitFor(() => expect(Object.keys(reader.rows)).not.toContain("node/a"), POLL);
    expect(Object.keys(reader.rows)).not.toContain("route/a");
  });

  test("raises an alarm with a remedy for an unavailable provider", async () => {
    const reader = await stream();
    await vi.waitFor(() => expect(reader.rows).toMatchObject({ "provider/east": "ok" }), POLL);
    const reasons = [{ name: "ConnectionLost", message: "the connection is lost" }] as const;
    world.provider = snapshot({ connection: "connecting", health: { ready: false, reasons } });
    await vi.waitFor(() => expect(reader.rows).toMatchObject({ "provider/east": "waiting" }), POLL);
    const [alarm] = reader.received.findLast(({ overview }) => overview !== undefined)?.overview?.alarms ?? [];
    expect(alarm).toMatchObject({
      reason: "ProviderUnavailable",
      object: "provider/east",
      message: "Provider east: the connection is lost.",
      remedy: expect.any(String),
    });
  });

  test("samples come every few seconds", async () => {
    const reader = await stream();
    await vi.waitFor(() => expect(reader.received.some(({ sample }) => sample !== undefined)).toBe(true), POLL);
  });

  test("ends in order when the server closes, with as many readers as there are", async () => {
    const readers = await Promise.all([stream(), stream(), stream()]);
    await vi.waitFor(() => {
      for (const reader of readers) expect(reader.rows).toMatchObject({ "provider/east": "ok" });
    }, POLL);
    await world.server.close();
    expect(await Promise.allSettled(readers.map(({ ended }) => ended))).toEqual(
      // words-ok: the status of a settled promise
      readers.map(() => ({ status: "fulfilled", value: undefined })),
    );
  });
});

describe("the pages", () => {
  test("list what is asked for, and how many there are", async () => {
    for (const name of ["a", "b", "c"]) world.nodes.set(owned(name));
    world.nodes.set(fresh("new"));
    expect(await json("/debug/objects?kind=node&state=progressing")).toMatchObject([
      { object: "node/new", state: "progressing", provider: "east", creationTime: "2026-11-21T11:00:00.000Z" },
    ]);
    const some = await fetch(`${world.url}/debug/objects?kind=node&limit=2`);
    expect({ total: some.headers.get("x-total-count"), rows: await some.json() }).toMatchObject({
      total: "4",
      rows: [{ object: "node/a" }, { object: "node/b" }],
    });
    expect(await json("/debug/objects?search=nothing-of-the-kind")).toEqual([]);
  });

  test("refuse a question that is wrong, with all that is wrong with it", async () => {
    const response = await fetch(`${world.url}/debug/objects?kind=pod&limit=x`);
    expect({ status: response.status, text: await response.text() }).toEqual({
      status: 400,
      text: 'kind: invalid value "pod"; use node, service, route, provider\nlimit: "x" is not a number above 0\n',
    });
  });

  test("show only Services that want a load balancer, or still have one", async () => {
    world.services.set(service("inside", { spec: { type: "ClusterIP" } }));
    world.services.set(service("outside"));
    expect(await json("/debug/objects?kind=service")).toMatchObject([{ object: "service/default/outside" }]);
  });

  test("say how everything stands", async () => {
    world.nodes.set(owned("a"));
    expect(await json("/debug/overview")).toMatchObject({ counts: { node: { ok: 1 } }, controllers: [] });
  });

  test("shows the circuit breaker from the Nodes of a provider", async () => {
    const held = requeueAfter(60_000, { reason: "tooManyNodeDeletions", message: "7 of 9 Nodes would go" });
    const lifecycle = keyedController({
      name: CLOUD_NODE_LIFECYCLE_CONTROLLER,
      keys: ["a"],
      reconcile: () => Promise.resolve(held),
      clock: new FakeClock(),
    });
    await using harness = await startOverviewHarness(false, [lifecycle]);
    void lifecycle.run({ stop: end.signal, abort: end.signal });
    await vi.waitFor(() => expect(lifecycle.current?.last("a")).toBeDefined(), POLL);
    harness.nodes.set(node("a", { spec: { providerID: "acme://a" }, status: { conditions: [] } }));
    const response = await fetch(`${harness.url}/debug/overview`);
    expect(await response.json()).toMatchObject({
      providers: [
        { name: "east", deletionCircuitBreaker: { open: true, absentNodes: 1, message: "7 of 9 Nodes would go" } },
      ],
      alarms: [{ reason: "TooManyNodeDeletions", object: "provider/east", message: "7 of 9 Nodes would go." }],
    });
  });
});
