import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hookActions, hookNames, undoOf } from "../suite/hooks.ts";
import { UsageError } from "../errors.ts";
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
  requestedIp: 192.0.2.9
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
      loadBalancer: {
        class: "acme.example.com/small",
        annotations: { "acme.example.com/a": "b" },
        requestedIp: "192.0.2.9",
        timeoutMs: 30_000,
      },
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

  test("reports all mistakes together, each with its line", () => {
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

describe("hooks", () => {
  test("are commands, run beside the configuration, or requests", () => {
    const text = `
hooks:
  cloudBlock: { command: [./block.sh, now], timeoutSeconds: 5 }
  cloudUnblock: { http: { method: DELETE, url: "http://127.0.0.1:1/faults", headers: { a: b }, body: "\${CONFORMANCE_RUN}" } }
`;
    expect(parseConfig(text, "/etc/acme/c.yaml").hooks).toEqual({
      cloudBlock: { kind: "command", command: ["./block.sh", "now"], directory: "/etc/acme", timeoutMs: 5_000 },
      cloudUnblock: {
        kind: "http",
        method: "DELETE",
        url: "http://127.0.0.1:1/faults",
        headers: { a: "b" },
        body: "${CONFORMANCE_RUN}",
      },
    });
  });

  test("are refused with all that is wrong with them", () => {
    const text = `hooks:
  cloudBlock: { command: [a], http: { url: http://a } }
  credRevoke: {}
  credRestore: { http: { url: here, size: 3 } }
  zoneOutage: { http: { url: "\${NO_SUCH_VALUE}" } }
  zoneRestore: { command: a, timeoutSeconds: 0 }
  explode: {}
scale: { instances: many }
`;
    expect(() => parseConfig(text, "c.yaml")).toThrow(
      new UsageError(`the configuration c.yaml has 11 mistakes:
  c.yaml:2: hooks.cloudBlock needs cloudUnblock beside it: what is done to the cloud has to be undone
  c.yaml:2: hooks.cloudBlock has to have either command, a list of texts, or http
  c.yaml:3: hooks.credRevoke has to have either command, a list of texts, or http
  c.yaml:4: hooks.credRestore.http.size is not known
  c.yaml:4: hooks.credRestore.http.url has to be a URL
  c.yaml:5: hooks.zoneOutage.http.url names \${NO_SUCH_VALUE}, which is neither in the kit's environment nor one of the run's values
  c.yaml:6: hooks.zoneRestore.timeoutSeconds has to be a number above 0
  c.yaml:6: hooks.zoneRestore.command has to be a list of texts
  c.yaml:6: hooks.zoneRestore has to have either command, a list of texts, or http
  c.yaml:7: hooks.explode is not known
  c.yaml:8: scale.instances has to be a number above 0`),
    );
  });

  test("are in the README as the kit has them", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const [, table = ""] = /<!-- begin hooks -->(.*)<!-- end hooks -->/s.exec(readme) ?? [];
    const reported = table.split("\n").filter((line) => line.startsWith("| `"));
    const wanted = hookNames.map((name) => {
      const undo = undoOf(name);
      return `| \`${name}\` | ${hookActions[name].what} |${undo === undefined ? "" : ` \`${undo}\``} |`;
    });
    expect(reported).toEqual(wanted);
  });
});

describe("readConfig()", () => {
  test("says which file cannot be read", async () => {
    await expect(readConfig("/nowhere/c.yaml")).rejects.toThrow("/nowhere/c.yaml cannot be read: ENOENT");
  });
});
