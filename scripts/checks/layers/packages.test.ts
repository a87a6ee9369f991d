import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

describe("packageFindings()", () => {
  test.each([
    [
      "the controller to the contract",
      "controller/src/provider/convert/instance.ts",
      "@cloudwire/proto/cloudprovider/v1/instance",
    ],
    ["the SDK to the contract", "provider-sdk/typescript/src/server.ts", "@cloudwire/proto/reasons"],
    ["a provider to the SDK", "providers/aws/src/main.ts", "@cloudwire/provider-sdk"],
    ["a provider's test to the contract", "providers/aws/src/main.component.test.ts", "@cloudwire/proto/reasons"],
    ["the controller's test to a cluster", "controller/src/kube/a.component.test.ts", "@cloudwire/devcluster"],
    ["what stands beside its tests as well", "controller/test/support/harness.ts", "@cloudwire/control-plane"],
    ["the suites to everything", "test/suites/system/nodes.system.test.ts", "@cloudwire/controller"],
    ["a package to itself", "controller/src/main.ts", "@cloudwire/controller"],
    ["a package to a library", "devcluster/src/server.ts", "fastify"],
    ["the kit's correct provider to the SDK", "provider-sdk/conformance/src/reference/a.ts", "@cloudwire/provider-sdk"],
  ])("allows %s", (_sentence, path, specifier) => {
    expect(messages({ [path]: `import { a } from "${specifier}";` })).toEqual([]);
  });

  test.each([
    [
      "the controller to the SDK",
      "controller/src/main.ts",
      "@cloudwire/provider-sdk",
      "may import only @cloudwire/proto, @cloudwire/operator-api",
    ],
    [
      "the SDK to the controller",
      "provider-sdk/typescript/src/a.ts",
      "@cloudwire/controller",
      "may import only @cloudwire/proto",
    ],
    [
      "a provider past the SDK",
      "providers/aws/src/a.ts",
      "@cloudwire/proto/reasons",
      "may import only @cloudwire/provider-sdk",
    ],
    [
      "one provider to another",
      "providers/aws/src/a.ts",
      "@cloudwire/provider-simulated",
      "may import only @cloudwire/provider-sdk",
    ],
    [
      "the rest of the kit to the SDK",
      "provider-sdk/conformance/src/checks/a.ts",
      "@cloudwire/provider-sdk",
      "may import only @cloudwire/proto",
    ],
    [
      "the status page to the controller",
      "status-page/src/main.tsx",
      "@cloudwire/controller",
      "may import only @cloudwire/operator-api",
    ],
    [
      "the command line to the controller",
      "cli/src/main.ts",
      "@cloudwire/controller",
      "may import only @cloudwire/operator-api, @cloudwire/proto",
    ],
    ["devcluster to anything", "devcluster/src/a.ts", "@cloudwire/proto/reasons", "may import no other package"],
    ["the contract to anything", "proto/src/a.ts", "@cloudwire/controller", "may import no other package"],
    [
      "the real control plane to devcluster",
      "test/control-plane/src/a.ts",
      "@cloudwire/devcluster",
      "may import no other package",
    ],
  ])("refuses %s", (_sentence, path, specifier, end) => {
    const found = messages({ [path]: `import { a } from "${specifier}";` });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${path}:1 imports @cloudwire/.*${end}$`));
  });

  test("refuses a relative path into another package", () => {
    expect(messages({ "controller/src/main.ts": 'import { a } from "../../proto/src/reasons.ts";' })).toEqual([
      "controller/src/main.ts:1 imports ../../proto/src/reasons.ts, which leaves @cloudwire/controller: import the other package by its name",
    ]);
  });
});
