import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import type { Node } from "../../api/node.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import { CidrSet } from "./cidr-set.ts";
import { nodeIpamMetrics } from "./metrics.ts";
import { CidrAllocations } from "./cidr-allocations.ts";

let metrics: Metrics;
let freed: number;
beforeEach(() => {
  metrics = new Metrics();
  freed = 0;
});

function range(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no range`);
  return parsed;
}

function allocations(sets: readonly CidrSet[], reserved: readonly string[] = []): CidrAllocations {
  return new CidrAllocations({
    sets,
    reserved: reserved.map(range),
    metrics: nodeIpamMetrics(metrics),
    onFreed: () => void freed++,
  });
}

function ipv4(blocks = 4): CidrSet {
  return new CidrSet(range(`10.0.0.0/${24 - Math.log2(blocks)}`), 24);
}

function ipv6(blocks = 4): CidrSet {
  return new CidrSet(range(`fd00::/${64 - Math.log2(blocks)}`), 64);
}

function ranged(name: string, ...podCIDRs: readonly string[]): Node {
  return node(name, { spec: { podCIDRs } });
}

describe("CidrAllocations.reserve()", () => {
  test("sets one block of each family aside, and the same ones when asked again", () => {
    const kept = allocations([ipv4(), ipv6()]);
    const wanted = { kind: "reserved", cidrs: ["10.0.0.0/24", "fd00::/64"] };
    expect([kept.reserve(node("a")), kept.reserve(node("a"))]).toEqual([wanted, wanted]);
    expect(kept.reserve(node("b"))).toEqual({ kind: "reserved", cidrs: ["10.0.1.0/24", "fd00:0:0:1::/64"] });
    expect(kept.of(node("a"))).toMatchObject({ cidrs: wanted.cidrs, isWritten: false });
  });

  test("takes no block of one family when the other is full", () => {
    const [wide, narrow] = [ipv4(4), ipv6(1)];
    const kept = allocations([wide, narrow]);
    kept.reserve(node("a"));
    expect(kept.reserve(node("b"))).toEqual({ kind: "full", clusterCidr: "fd00::/64" });
    expect([wide.used, narrow.used]).toEqual([1, 1]);
    kept.forget(node("a"));
    expect(kept.reserve(node("b"))).toEqual({ kind: "reserved", cidrs: ["10.0.1.0/24", "fd00::/64"] });
  });

  test("never allocates the CIDRs of Services", () => {
    const set = ipv4();
    const kept = allocations([set], ["10.0.0.0/23", "192.168.0.0/16", "fd00::/108"]);
    expect([kept.reserve(node("a")), kept.reserve(node("b")), kept.reserve(node("c"))]).toEqual([
      { kind: "reserved", cidrs: ["10.0.2.0/24"] },
      { kind: "reserved", cidrs: ["10.0.3.0/24"] },
      { kind: "full", clusterCidr: "10.0.0.0/22" },
    ]);
  });
});

describe("CidrAllocations.see()", () => {
  test("keeps account of ranges that another client gave", () => {
    const kept = allocations([ipv4(), ipv6()]);
    expect(kept.see(ranged("a", "10.0.0.0/24"))).toEqual([]);
    expect(kept.reserve(node("b"))).toEqual({ kind: "reserved", cidrs: ["10.0.1.0/24", "fd00::/64"] });
  });

  test("releases the reservation of a Node that has other CIDRs", () => {
    const set = ipv4();
    const kept = allocations([set]);
    kept.reserve(node("a"));
    kept.see(ranged("a", "10.0.3.0/24"));
    expect([set.isInUse(range("10.0.0.0/24")), set.isInUse(range("10.0.3.0/24")), freed]).toEqual([false, true, 1]);
  });

  test.each([
    { sentence: "fewer", cidrs: ["10.0.0.0/24"], used: [1, 0] },
    { sentence: "others of one family", cidrs: ["10.0.0.0/24", "fd00:0:0:3::/64"], used: [1, 1] },
    { sentence: "more", cidrs: ["10.0.0.0/24", "fd00::/64", "10.0.3.0/24"], used: [2, 1] },
  ])("keeps account of $sentence than were reserved", ({ cidrs, used }) => {
    const [four, six] = [ipv4(), ipv6()];
    const kept = allocations([four, six]);
    kept.reserve(node("a"));
    expect(kept.see(ranged("a", ...cidrs))).toEqual([]);
    expect([four.used, six.used, kept.of(node("a"))?.cidrs]).toEqual([...used, cidrs]);
  });

  test("reports a CIDR of another Node, whatever the other family has", () => {
    const kept = allocations([ipv4(), ipv6()]);
    kept.see(ranged("a", "10.0.0.0/24"));
    expect(kept.see(ranged("b", "10.0.0.0/24")).map(({ cidr }) => cidr)).toEqual(["10.0.0.0/24"]);
  });

  test("does not believe that a Node lost its ranges", () => {
    const set = ipv4();
    const kept = allocations([set]);
    kept.see(ranged("a", "10.0.0.0/24"));
    kept.see(node("a"));
    expect([set.used, kept.of(node("a"))?.isWritten]).toEqual([1, true]);
  });

  test.each([
    { cidrs: ["10.9.0.0/24"], conflicts: [{ cidr: "10.9.0.0/24", message: "is outside of --cluster-cidr" }] },
    { cidrs: ["fd00::/64"], conflicts: [{ cidr: "fd00::/64", message: "is outside of --cluster-cidr" }] },
    { cidrs: ["10.0.0/24"], conflicts: [{ cidr: "10.0.0/24", message: "is not a valid CIDR" }] },
    {
      cidrs: ["10.0.0.128/25"],
      conflicts: [{ cidr: "10.0.0.128/25", message: "is also used by another Node or by Services" }],
    },
  ])("reports a conflict once: $cidrs", ({ cidrs, conflicts }) => {
    const kept = allocations([ipv4()]);
    kept.see(ranged("first", "10.0.0.0/24"));
    expect([kept.see(ranged("a", ...cidrs)), kept.see(ranged("a", ...cidrs))]).toEqual([conflicts, []]);
  });

  test("keeps a range that two Nodes have until both are gone", () => {
    const set = ipv4();
    const kept = allocations([set]);
    kept.see(ranged("a", "10.0.0.0/24"));
    kept.see(ranged("b", "10.0.0.0/24"));
    kept.forget(node("a"));
    expect([set.used, freed]).toEqual([1, 0]);
    kept.forget(node("b"));
    expect([set.used, freed]).toEqual([0, 1]);
  });
});

describe("CidrAllocations.confirm()", () => {
  test("does nothing for a Node that is gone meanwhile", () => {
    const set = ipv4();
    const kept = allocations([set]);
    kept.reserve(node("a"));
    kept.forget(node("a"));
    kept.confirm(node("a"), ranged("a", "10.0.0.0/24"));
    expect([set.used, kept.of(node("a"))]).toEqual([0, undefined]);
  });

  test("marks what was written", () => {
    const kept = allocations([ipv4()]);
    kept.reserve(node("a"));
    kept.confirm(node("a"), ranged("a", "10.0.0.0/24"));
    expect(kept.of(node("a"))?.isWritten).toBe(true);
  });
});

describe("CidrAllocations.forget()", () => {
  test("takes a Node for its UID, not its name", () => {
    const set = ipv4();
    const kept = allocations([set]);
    kept.reserve(node("a", { metadata: { uid: "new" } }));
    kept.forget(node("a", { metadata: { uid: "old" } }));
    expect(set.used).toBe(1);
  });
});

describe("CidrAllocations's metrics", () => {
  test("count blocks as upstream's do", async () => {
    const kept = allocations([ipv4()], ["10.0.0.0/24"]);
    kept.see(ranged("a", "10.0.1.0/24"));
    kept.reserve(node("b"));
    kept.forget(node("a"));
    const labels = { clusterCIDR: "10.0.0.0/22" };
    const of = (name: string) => metrics.value(`node_ipam_controller_${name}`, labels);
    expect([
      await of("cidrset_cidrs_allocations_total"),
      await of("cidrset_cidrs_releases_total"),
      await of("cidrset_usage_cidrs"),
      await of("cirdset_max_cidrs"),
    ]).toEqual([3, 1, 0.5, 4]);
    expect(await metrics.text()).toContain(
      'node_ipam_controller_cidrset_allocation_tries_per_request_sum{clusterCIDR="10.0.0.0/22"} 2',
    );
  });
});
