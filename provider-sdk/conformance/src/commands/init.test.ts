import { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../cli/config.ts";
import { initialConfig } from "./init.ts";

const info = (capabilities: object): GetProviderInfoResponse =>
  GetProviderInfoResponse.fromPartial({
    name: "acme.example.com",
    version: "1.0.0",
    providerIdPrefixes: ["acme://"],
    capabilities,
  });

const uncommented = (text: string): string => text.replace(/^#(?=\S| {2})/gm, "");

describe("initialConfig()", () => {
  test("asks for what claims need, in a file that is valid as it is", () => {
    const text = initialConfig(info({ instances: {} }));
    expect(parseConfig(text, "c.yaml")).toEqual({ malformedIds: [] });
    expect(text).toContain("Settings for acme.example.com 1.0.0 that cloudwire-conformance cannot detect");
  });

  test("gives every item in the form in which it is read", () => {
    const text = uncommented(initialConfig(info({ instances: {}, loadBalancers: {}, routes: {} })));
    const { hooks = {}, absentProviderId = "", ...others } = parseConfig(text, "c.yaml");
    expect(others).toMatchObject({
      instance: {
        providerId: "acme://…",
        nodeName: "…",
        type: "…",
        zone: "…",
        region: "…",
        addresses: ["192.0.2.1"],
      },
      canarySecret: "…",
      malformedIds: ["acme://?"],
      loadBalancer: { class: "…", annotations: {}, timeoutMs: 600_000 },
      routeCidrs: ["198.18.0.0/24", "198.18.1.0/24"],
      limits: { maxResources: 4, maxCostNote: "two small load balancers for an hour" },
      testCloud: "http://127.0.0.1:8080",
    });
    expect(absentProviderId).toMatch(/^acme:\/\/[0-9a-f-]{36}$/);
    expect(Object.entries(hooks)).not.toEqual([]);
    for (const [name, hook] of Object.entries(hooks))
      expect(hook).toMatchObject({ kind: "command", command: ["./hooks.sh", name], timeoutMs: 60_000 });
  });

  test("does not ask for machines, load balancers and ranges where none are claimed", () => {
    const text = uncommented(initialConfig(info({ volumes: {} })));
    const asked = Object.keys(parseConfig(text, "c.yaml"));
    expect(asked).toEqual(expect.arrayContaining(["canarySecret", "volume", "hooks"]));
    const notClaimed = ["instance", "absentProviderId", "loadBalancer", "routeCidrs", "limits", "testCloud"];
    expect(asked.filter((key) => notClaimed.includes(key))).toEqual([]);
  });
});
