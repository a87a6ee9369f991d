import { describe, expect, test } from "vitest";
import { UsageError } from "../check/usage-error.ts";
import { parseConfig, readConfig } from "./config.ts";

describe("parseConfig()", () => {
  test("reads all that a vendor may supply", () => {
    const text = `
instance:
  providerId: acme://m-1
  nodeName: node-1
  type: small
  zone: a
  region: r
  addresses: [192.0.2.1]
otherInstance: { providerId: acme://m-2, nodeName: node-2 }
stoppedProviderId: acme://m-3
terminatedProviderId: acme://m-4
absentProviderId: acme://none
volume: { driver: csi.acme.example.com, handle: vol-1, zones: [a], region: r }
absentVolumeHandle: vol-none
malformedVolumeHandle: "?"
malformedIds: ["acme://?"]
canarySecret: canary
loadBalancer:
  class: acme.example.com/small
  annotations: { acme.example.com/a: b }
  timeoutSeconds: 30
routeCidrs: [198.18.0.0/24, 198.18.1.0/24]
limits:
  maxResources: 4
  maxCostNote: two small load balancers for an hour
testCloud: http://127.0.0.1:8080
`;
    expect(parseConfig(text, "c.yaml")).toEqual({
      instance: {
        providerId: "acme://m-1",
        nodeName: "node-1",
        type: "small",
        zone: "a",
        region: "r",
        addresses: ["192.0.2.1"],
      },
      otherInstance: { providerId: "acme://m-2", nodeName: "node-2" },
      stoppedProviderId: "acme://m-3",
      terminatedProviderId: "acme://m-4",
      absentProviderId: "acme://none",
      volume: { driver: "csi.acme.example.com", handle: "vol-1", zones: ["a"], region: "r" },
      absentVolumeHandle: "vol-none",
      malformedVolumeHandle: "?",
      malformedIds: ["acme://?"],
      canarySecret: "canary",
      loadBalancer: { class: "acme.example.com/small", annotations: { "acme.example.com/a": "b" }, timeoutMs: 30_000 },
      routeCidrs: ["198.18.0.0/24", "198.18.1.0/24"],
      limits: { maxResources: 4, maxCostNote: "two small load balancers for an hour" },
      testCloud: "http://127.0.0.1:8080",
    });
  });

  test("takes an empty file for no fixtures", () => {
    expect(parseConfig("# nothing yet\n", "c.yaml")).toEqual({ malformedIds: [] });
  });

  test("puts another UUID into each template of an ID", () => {
    let given = 0;
    const text = "absentProviderId: acme://{uuid}\nmalformedIds: ['acme:///{uuid}']";
    expect(parseConfig(text, "c.yaml", () => `uuid-${++given}`)).toEqual({
      absentProviderId: "acme://uuid-1",
      malformedIds: ["acme:///uuid-2"],
    });
    expect(parseConfig(text, "c.yaml").absentProviderId).toMatch(/^acme:\/\/[0-9a-f-]{36}$/);
  });

  test("tells all mistakes together, each with its line", () => {
    const text = `instance: {nodeName: 3}
instances: {}
malformedIds: acme
absentProviderId: 3
loadBalancer:
  timeoutSeconds: soon
  annotations: {a: 1}
  size: 3
routeCidrs: [a]
limits: {maxResources: 0}
testCloud: https://cloud.example.com
canarySecret:
`;
    expect(() => parseConfig(text, "c.yaml")).toThrow(
      new UsageError(`the configuration c.yaml has 11 mistakes:
  c.yaml:1: instance.providerId is missing
  c.yaml:1: instance.nodeName has to be a text
  c.yaml:2: instances is not known
  c.yaml:3: malformedIds has to be a list of texts
  c.yaml:4: absentProviderId has to be a text
  c.yaml:6: loadBalancer.timeoutSeconds has to be a number above 0
  c.yaml:7: loadBalancer.annotations.a has to be a text
  c.yaml:8: loadBalancer.size is not known
  c.yaml:9: routeCidrs has to be a list of two ranges
  c.yaml:10: limits.maxResources has to be a number above 0
  c.yaml:11: testCloud has to be a URL on loopback, such as http://127.0.0.1:8080: no real cloud is there`),
    );
  });

  test.each<[string, RegExp]>([
    ["instance: 3", /has a mistake:\n {2}c\.yaml:1: instance has to be a mapping$/],
    ["- x", /c\.yaml:1: the file has to be a mapping/],
    ["a: 1\na: 2\nb: [", /has 2 mistakes:\n {2}c\.yaml:2: Map keys must be unique\n {2}c\.yaml:3: /],
  ])("refuses %j", (text, wanted) => {
    expect(() => parseConfig(text, "c.yaml")).toThrow(wanted);
  });
});

describe("readConfig()", () => {
  test("says which file cannot be read", async () => {
    await expect(readConfig("/nowhere/c.yaml")).rejects.toThrow("/nowhere/c.yaml cannot be read: ENOENT");
  });
});
