import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { NO_RULES, type Provider } from "../model/provider.ts";
import { OwnershipReport, ownershipConflicts } from "./conflicts.ts";
import { providerSet } from "./provider-set.ts";

const declaring = (name: string, prefix: string, ...classes: readonly string[]) =>
  idleProvider(
    name,
    info({ providerIdPrefixes: [prefix], capabilities: { loadBalancers: capabilities({ classes }) } }),
  );
const east = declaring("east", "east://", "example.com/a");
const west = declaring("west", "west://", "example.com/b");
const bare = idleProvider(
  "bare",
  info({ providerIdPrefixes: ["bare://"], capabilities: { loadBalancers: undefined } }),
);
const silent = idleProvider("silent", undefined);
const anyNode = { text: "a", requirements: [{ kind: "exists", key: "a" }] } as const;

describe("ownershipConflicts()", () => {
  test("there are none where every provider has its own", () => {
    expect(ownershipConflicts([east, west, bare, silent], NO_RULES)).toEqual([]);
  });

  test("names each prefix and class that two declare, and who they are", () => {
    const [twin, third] = [
      declaring("twin", "west://", "example.com/a"),
      declaring("third", "west://", "example.com/b"),
    ];
    expect(ownershipConflicts([east, west, twin, third], NO_RULES)).toEqual([
      {
        kind: "providerIdPrefix",
        value: "west://",
        providers: ["west", "twin", "third"],
        message: expect.stringMatching(
          /^providers west, twin and third have the same provider-ID prefix west:\/\/.*selector for each$/,
        ),
      },
      {
        kind: "loadBalancerClass",
        value: "example.com/a",
        providers: ["east", "twin"],
        message: expect.stringMatching(/^providers east and twin serve the same load-balancer class example.com\/a: /),
      },
      { kind: "loadBalancerClass", value: "example.com/b", providers: ["west", "third"], message: expect.any(String) },
    ]);
  });

  test("a shared prefix is none where each of them has a selector, and one where only some have", () => {
    const twin = declaring("twin", "west://", "example.com/c");
    const both = new Map([
      ["west", anyNode],
      ["twin", anyNode],
    ]);
    expect(ownershipConflicts([west, twin], { ...NO_RULES, nodeSelectors: both })).toEqual([]);
    const one = new Map([["west", anyNode]]);
    expect(ownershipConflicts([west, twin], { ...NO_RULES, nodeSelectors: one })).toMatchObject([{ value: "west://" }]);
  });

  test("a default provider without load balancers is one if another has them", () => {
    expect(ownershipConflicts([bare, east, west], NO_RULES)).toMatchObject([
      {
        kind: "defaultLoadBalancerProvider",
        value: "bare",
        message: expect.stringContaining("set --default-load-balancer-provider to east and west"),
      },
    ]);
    expect(ownershipConflicts([bare, east], { ...NO_RULES, defaultLoadBalancerProvider: "east" })).toEqual([]);
    expect(ownershipConflicts([bare], NO_RULES)).toEqual([]);
  });
});

describe("ownership report", () => {
  const loadBalancers = capabilities({ classes: ["example.com/lb"] });
  const east = idleProvider("east", info({ providerIdPrefixes: ["east://"], capabilities: { loadBalancers } }));
  const west = idleProvider("west", info({ providerIdPrefixes: ["west://"], capabilities: { loadBalancers } }));

  function reportOf(providers: readonly Provider[], providerIDs: readonly string[] = []) {
    const [metrics, log] = [new Metrics(), new FakeLog()];
    const nodes = () => providerIDs.map((providerID, index) => node(`n${index}`, { spec: { providerID } }));
    const set = providerSet(providers);
    return { metrics, log, report: new OwnershipReport({ providers: set, rules: NO_RULES, nodes, metrics, log }) };
  }

  describe("OwnershipReport", () => {
    test("counts Nodes by owner", async () => {
      const { metrics } = reportOf([east, west], ["east://1", "east://2", "other://1", ""]);
      const of = (provider: string, state: string) => metrics.value("cloudwire_nodes", { provider, state });
      expect(await of("east", "owned")).toBe(2);
      expect(await of("west", "owned")).toBe(0);
      expect(await of("", "unowned")).toBe(1);
      expect(await of("", "undecided")).toBe(1);
    });

    test("says what is conflict once, and when it no longer is", async () => {
      const providers = [east, { ...west }];
      const { metrics, log, report } = reportOf(providers);
      const conflict = () => metrics.value("cloudwire_ownership_conflicts", { value: "example.com/lb" });
      report.check();
      report.check();
      expect(log.lines).toEqual([
        expect.objectContaining({ level: "error", fields: expect.objectContaining({ providers: ["east", "west"] }) }),
      ]);
      expect(await conflict()).toBe(1);
      providers[1] = idleProvider("west", info({ providerIdPrefixes: ["west://"] }));
      report.check();
      expect(log.lines.map(({ level }) => level)).toEqual(["error", "info"]);
      expect(await conflict()).toBeUndefined();
    });
  });
});
