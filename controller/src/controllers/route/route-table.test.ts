import { describe, expect, test } from "vitest";
import { parseCidr } from "../../util/cidr.ts";
import { type KnownRoute, RouteTable } from "./route-table.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";

function route(destinationCidr: string, nodeName: string, id = `id-${destinationCidr}-${nodeName}`): KnownRoute {
  const cidr = parseCidr(destinationCidr);
  if (cidr === undefined) throw new Error(destinationCidr);
  const target = { targetProviderId: `acme://${nodeName}`, targetNodeName: nodeName, targetAddresses: [] };
  return { cidr, nodeName, madeFor: "", route: { id, nameHint: "", destinationCidr, blackhole: false, ...target } };
}

function load(table: RouteTable, routes: readonly KnownRoute[], { complete = true, mark = table.mark() } = {}): void {
  table.load({ routes, complete, mark, readAtMs: 5 });
}

const shown = (table: RouteTable): readonly string[] =>
  table
    .all()
    .map(({ cidr, nodeName }) => `${cidr.text} ${nodeName}`)
    .toSorted();

describe("RouteTable", () => {
  test("knows nothing before it was read", () => {
    const table = new RouteTable();
    expect([table.readAtMs, table.complete, table.all()]).toEqual([undefined, false, []]);
  });

  test("finds routes by range and by node", () => {
    const table = new RouteTable();
    const [first, second, third] = [route(A, "a"), route(B, "a"), route(A, "b")];
    load(table, [first, second, third]);
    expect(table.to(first.cidr)).toEqual([first, third]);
    expect(table.ofNode("a")).toEqual([first, second]);
    expect(table.ofNode("no one")).toEqual([]);
    table.remove(first);
    expect([table.to(first.cidr), table.ofNode("a")]).toEqual([[third], [second]]);
    expect([table.holds(first), table.holds(second)]).toEqual([false, true]);
  });

  test("holds a route only while it leads to the same target", () => {
    const table = new RouteTable();
    load(table, [route(A, "b", "same-id")]);
    expect([table.holds(route(A, "a", "same-id")), table.holds(route(A, "b", "same-id"))]).toEqual([false, true]);
  });

  test("takes a complete list for all there is, and an incomplete one for a part", () => {
    const table = new RouteTable();
    load(table, [route(A, "a"), route(B, "b")]);
    load(table, [route("10.120.3.0/24", "c")], { complete: false });
    expect([shown(table), table.complete]).toEqual([[`${A} a`, `${B} b`, "10.120.3.0/24 c"], false]);
    load(table, [route(A, "a")]);
    expect([shown(table), table.complete, table.readAtMs]).toEqual([[`${A} a`], true, 5]);
  });

  test("believes its own changes more than a list that was asked for before them", () => {
    const table = new RouteTable();
    load(table, [route(A, "a")]);
    const mark = table.mark();
    table.remove(route(A, "a"));
    table.put(route(B, "b"));
    load(table, [route(A, "a")], { mark });
    expect(shown(table)).toEqual([`${B} b`]);
    load(table, [route(A, "a")]);
    expect(shown(table)).toEqual([`${A} a`]);
  });

  test("lets a route that was made replace all others to its range", () => {
    const table = new RouteTable();
    const mark = table.mark();
    load(table, [route(A, "a"), route(A, "old")]);
    table.put(route(A, "b"));
    load(table, [route(A, "a"), route(A, "old")], { mark });
    expect(shown(table)).toEqual([`${A} b`]);
  });
});
