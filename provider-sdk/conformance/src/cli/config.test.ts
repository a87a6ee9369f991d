import { describe, expect, test } from "vitest";
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
absentProviderId: acme://none
malformedIds: ["acme://?"]
canarySecret: canary
loadBalancer:
  class: acme.example.com/small
  annotations: { acme.example.com/a: b }
  timeoutSeconds: 30
routeCidrs: [198.18.0.0/24, 198.18.1.0/24]
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
      absentProviderId: "acme://none",
      malformedIds: ["acme://?"],
      canarySecret: "canary",
      loadBalancer: { class: "acme.example.com/small", annotations: { "acme.example.com/a": "b" }, timeoutMs: 30_000 },
      routeCidrs: ["198.18.0.0/24", "198.18.1.0/24"],
    });
  });

  test("takes an empty file for no fixtures", () => {
    expect(parseConfig("# nothing yet\n", "c.yaml")).toEqual({ malformedIds: [] });
  });

  test.each<[string, RegExp]>([
    ["instance: {nodeName: n}", /the configuration c\.yaml is wrong: instance\.providerId is missing/],
    ["instances: {}", /instances is not known/],
    ["instance: 3", /instance has to be a mapping/],
    ["malformedIds: acme", /malformedIds has to be a list of texts/],
    ["absentProviderId: 3\ncanarySecret: [x]", /absentProviderId has to be a text; canarySecret has to be a text/],
    [
      "loadBalancer: {timeoutSeconds: soon, annotations: {a: 1}, size: 3}\nrouteCidrs: [a]",
      /timeoutSeconds has to be a number above 0; loadBalancer\.annotations\.a has to be a text; .*loadBalancer\.size is not known; routeCidrs has to be a list of two/,
    ],
    ["a: [", /c\.yaml is no YAML/],
    ["- x", /the file has to be a mapping/],
  ])("refuses %j", (text, wanted) => {
    expect(() => parseConfig(text, "c.yaml")).toThrow(wanted);
  });
});

describe("readConfig()", () => {
  test("says which file cannot be read", async () => {
    await expect(readConfig("/nowhere/c.yaml")).rejects.toThrow("/nowhere/c.yaml cannot be read: ENOENT");
  });
});
