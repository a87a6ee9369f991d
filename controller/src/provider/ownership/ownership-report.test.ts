import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider-builders.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { OwnershipReport } from "./ownership-report.ts";
import { PrefixProviderSet } from "./prefix-provider-set.ts";
import { NO_RULES, type Provider } from "../model/provider.ts";

const loadBalancers = capabilities({ classes: ["example.com/lb"] });
const east = idleProvider("east", info({ providerIdPrefixes: ["east://"], capabilities: { loadBalancers } }));
const west = idleProvider("west", info({ providerIdPrefixes: ["west://"], capabilities: { loadBalancers } }));

function reportOf(providers: readonly Provider[], providerIDs: readonly string[] = []) {
  const [metrics, log] = [new Metrics(), new FakeLog()];
  const nodes = () => providerIDs.map((providerID, index) => node(`n${index}`, { spec: { providerID } }));
  const set = new PrefixProviderSet(providers);
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

  test("says what is contested once, and when it no longer is", async () => {
    const providers = [east, { ...west }];
    const { metrics, log, report } = reportOf(providers);
    const contested = () => metrics.value("cloudwire_ownership_problems", { value: "example.com/lb" });
    report.check();
    report.check();
    expect(log.lines).toEqual([
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ providers: ["east", "west"] }) }),
    ]);
    expect(await contested()).toBe(1);
    providers[1] = idleProvider("west", info({ providerIdPrefixes: ["west://"] }));
    report.check();
    expect(log.lines.map(({ level }) => level)).toEqual(["error", "info"]);
    expect(await contested()).toBeUndefined();
  });
});
