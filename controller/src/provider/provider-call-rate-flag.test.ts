import { describe, expect, test } from "vitest";
import { type ProviderCallRate, providerFlags } from "./options.ts";

const before: readonly ProviderCallRate[] = [{ provider: "west", quotaClass: undefined, rate: undefined }];

describe("providerFlags.providerCallRate.parse()", () => {
  test.each<[string, ProviderCallRate]>([
    ["acme=20", { provider: "acme", quotaClass: undefined, rate: { cloudCallsPerSecond: 20, burst: 20 } }],
    ["acme=0.5", { provider: "acme", quotaClass: undefined, rate: { cloudCallsPerSecond: 0.5, burst: 1 } }],
    ["west/routes=5:9", { provider: "west", quotaClass: "routes", rate: { cloudCallsPerSecond: 5, burst: 9 } }],
    ["acme=0", { provider: "acme", quotaClass: undefined, rate: undefined }],
  ])("adds %j to the others, and writes what it reads", (text, rate) => {
    const value = [...before, rate];
    expect(providerFlags.providerCallRate.parse(text, before)).toEqual({ kind: "value", value });
    const [written = "", again = ""] = [providerFlags.providerCallRate.write(value)].flat().map(String);
    expect(written).toBe("west=0");
    expect(providerFlags.providerCallRate.parse(again, before)).toEqual({ kind: "value", value });
  });

  test.each([
    ["acme", '"acme" is not NAME=RATE or NAME/CLASS=RATE'],
    ["=20", '"=20" is not NAME=RATE'],
    ["acme/disks=20", '"disks" is no class of calls; there are instances, load_balancers, routes, volumes'],
    ["acme=fast", '"fast" is not a number of requests a second'],
    ["acme=-1", '"-1" is not a number of requests a second'],
    ["acme=20:", 'the burst "" is not a whole number, 1 or more'],
    ["acme=20:0", 'the burst "0" is not a whole number, 1 or more'],
    ["west=5", "west is given two rates"],
  ])("refuses %j", (text, problem) => {
    const parsed = providerFlags.providerCallRate.parse(text, before);
    expect(parsed).toEqual({ kind: "problem", problem: expect.stringContaining(problem) });
  });
});
