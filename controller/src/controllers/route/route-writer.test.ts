import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { RouteCloud } from "../../../test/support/route/route-cloud.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { Route } from "../../provider/model/route.ts";
import { parseCidr } from "../../util/cidr.ts";
import { type KnownRoute, RouteTable } from "./route-table.ts";
import { RouteWriter, type WriteTarget } from "./route-writer.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";

let clock: FakeClock;
let cloud: RouteCloud;
let table: RouteTable;
let target: WriteTarget;
let writer: RouteWriter;
let removals: number;

beforeEach(() => {
  clock = new FakeClock();
  cloud = new RouteCloud();
  table = new RouteTable();
  removals = 0;
  target = { provider: cloud.provider(), table, signal: new AbortController().signal };
  writer = new RouteWriter({ clock, windowMs: 100, onQuota: () => undefined, onRemoved: () => void removals++ });
});

function known(route: Route): KnownRoute {
  const cidr = parseCidr(route.destinationCidr);
  if (cidr === undefined) throw new Error(route.destinationCidr);
  return { route, cidr, nodeName: route.targetNodeName, madeFor: "" };
}

function listed(...routes: readonly Route[]): void {
  table.load({ routes: routes.map(known), complete: true, mark: table.mark(), readAtMs: 0 });
}

function requested(destinationCidr: string, machine: string): Route {
  return {
    id: "",
    nameHint: "",
    targetProviderId: `acme://${machine}`,
    targetNodeName: machine,
    destinationCidr,
    targetAddresses: [],
    blackhole: false,
  };
}

describe("RouteWriter", () => {
  test("sends what is requested within its window as one call each, removals first", async () => {
    const old = cloud.seed(A, "acme://gone");
    listed(old);
    const outcomes = [
      writer.create(target, requested(B, "b")),
      writer.delete(target, known(old)),
      writer.delete(target, known(old)),
      writer.create(target, requested("10.120.3.0/24", "c")),
    ];
    await clock.advance(99);
    expect(cloud.calls).toEqual([]);
    await clock.advance(1);
    expect((await Promise.all(outcomes)).map(({ kind }) => kind)).toEqual(["done", "done", "done", "done"]);
    expect(cloud.calls).toEqual([`delete ${A}`, `ensure ${B} 10.120.3.0/24`]);
    expect(table.all().map(({ cidr, madeFor }) => `${cidr.text} ${madeFor}`)).toEqual([
      `${B} acme://b`,
      "10.120.3.0/24 acme://c",
    ]);
    expect([removals, clock.timers]).toEqual([1, 0]);
  });

  test("changes a table one call at a time; what is requested meanwhile goes together with the next", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    cloud.beforeCall = () => promise;
    const first = writer.create(target, requested(A, "a"));
    await clock.advance(100);
    const others = [writer.create(target, requested(B, "b")), writer.create(target, requested("10.120.3.0/24", "c"))];
    await clock.advance(10_000);
    expect(cloud.calls).toEqual([`ensure ${A}`]);
    resolve();
    await Promise.all([first, ...others]);
    expect(cloud.calls).toEqual([`ensure ${A}`, `ensure ${B} 10.120.3.0/24`]);
  });

  test.each([
    { when: "it is gone already", present: [] },
    { when: "its place was taken by a route of the same id to another machine", present: [{ machine: "b" }] },
  ])("asks for no removal when $when", async ({ present }) => {
    const stale = cloud.seed(A, "acme://a");
    listed(...present.map(({ machine }) => ({ ...stale, targetProviderId: `acme://${machine}` })));
    const outcome = writer.delete(target, known(stale));
    await clock.advance(100);
    expect((await outcome).kind).toBe("done");
    expect([cloud.calls, removals]).toEqual([[], 0]);
  });

  test("answers each spec with its own outcome, and all with the error of a call that failed", async () => {
    cloud.foreign.add(A);
    const mixed = [writer.create(target, requested(A, "a")), writer.create(target, requested(B, "b"))];
    await clock.advance(100);
    expect((await Promise.all(mixed)).map(({ kind }) => kind)).toEqual(["failed", "done"]);
    cloud.beforeCall = () => Promise.reject(contractError("CLOUD_UNAVAILABLE", "away"));
    const lost = [writer.create(target, requested(A, "a")), ...table.all().map((one) => writer.delete(target, one))];
    await clock.advance(100);
    expect((await Promise.all(lost)).map((outcome) => outcome.kind === "failed" && outcome.error.reason)).toEqual([
      "CLOUD_UNAVAILABLE",
      "CLOUD_UNAVAILABLE",
    ]);
    expect(table.all().map(({ cidr }) => cidr.text)).toEqual([B]);
  });

  test("remembers what a route was made for when the provider writes the machine otherwise, over the next list too", async () => {
    cloud.seed(A, "acme://zone/a");
    const answered = { ...target, provider: answering(cloud, "acme://zone/a") };
    const made = writer.create(answered, requested(A, "a"));
    await clock.advance(100);
    await made;
    listed(...cloud.routes.values());
    const [route] = table.all();
    expect(route?.madeFor).toBe("acme://a");
    expect(route?.route.targetProviderId).toBe("acme://zone/a");
  });
});

/** Writes every machine in a way of its own. */
function answering(from: RouteCloud, targetProviderId: string): WriteTarget["provider"] {
  const { routes } = from;
  const plain = from.provider();
  const ensureRoutes: typeof plain.client.ensureRoutes = async () => ({
    outcomes: [...routes.values()].map((route) => ({ kind: "done", route: { ...route, targetProviderId } })),
    quota: undefined,
    plannedChanges: [],
  });
  return { ...plain, client: { ...plain.client, ensureRoutes } };
}
