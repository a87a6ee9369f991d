import { describe, expect, test } from "vitest";
import { checkLayers } from "./check.ts";

const messages = (files: Readonly<Record<string, string>>): readonly string[] =>
  checkLayers(new Map(Object.entries(files))).map(({ path, line, message }) => `${path}:${line} ${message}`);

describe("checkLayers() between packages", () => {
  test.each([
    [
      "the controller to the contract",
      "controller/src/provider/model/client.ts",
      "@cloudwire/proto/cloudprovider/v1/instance",
    ],
    ["the SDK to the contract", "provider-sdk/typescript/src/server.ts", "@cloudwire/proto/reasons"],
    ["a provider to the SDK", "providers/aws/src/main.ts", "@cloudwire/provider-sdk"],
    ["a provider's test to the contract", "providers/aws/src/main.component.test.ts", "@cloudwire/proto/reasons"],
    ["the controller's test to a cluster", "controller/src/kube/a.component.test.ts", "@cloudwire/devcluster"],
    ["what stands beside its tests as well", "controller/test/support/harness.ts", "@cloudwire/control-plane"],
    ["the suites to everything", "test/src/system/nodes.system.test.ts", "@cloudwire/controller"],
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

describe("checkLayers() within the controller", () => {
  test.each([
    ["a lower row", "controller/src/kube/client.ts", "../telemetry/log.ts"],
    ["its own folder", "controller/src/kube/client.ts", "./errors.ts"],
    ["a library", "controller/src/kube/client.ts", "undici"],
    ["everything, from the composition root", "controller/src/app/process.ts", "../controllers/node/controller.ts"],
  ])("allows %s", (_sentence, path, specifier) => {
    expect(messages({ [path]: `import { a } from "${specifier}";` })).toEqual([]);
  });

  test.each([
    ["upward", "controller/src/kube/client.ts", "../runtime/controller.ts", "imports runtime from kube, upward"],
    ["upward to the root", "controller/src/server/healthz.ts", "../app/daemon.ts", "imports app from server, upward"],
    ["sideways", "controller/src/kube/client.ts", "../provider/client.ts", "imports provider from kube, sideways"],
    [
      "one controller from another",
      "controller/src/controllers/node/gather.ts",
      "../service/gather.ts",
      "imports controllers/service from controllers/node, sideways",
    ],
  ])("refuses an import %s", (_sentence, path, specifier, begin) => {
    expect(messages({ [path]: `import { a } from "${specifier}";` })).toEqual([
      `${path}:1 ${begin}: a folder may import only from lower rows`,
    ]);
  });

  test.each([
    ["import type", 'import type { A } from "../runtime/result.ts";'],
    ["inline type", 'import { type A } from "../runtime/result.ts";'],
    ["export from", 'export { a } from "../runtime/result.ts";'],
    ["export star", 'export * from "../runtime/result.ts";'],
    ["dynamic import", 'const a = import("../runtime/result.ts");'],
    ["import() type", 'type A = import("../runtime/result.ts").A;'],
  ])("sees an upward import spelled as %s", (_sentence, text) => {
    expect(messages({ "controller/src/kube/client.ts": text })).toHaveLength(1);
  });

  test("gives the line of the import", () => {
    const text = 'import { a } from "./a.ts";\n\nimport { b } from "../runtime/b.ts";\n';
    expect(messages({ "controller/src/kube/client.ts": text })[0]).toMatch(/^controller\/src\/kube\/client\.ts:3 /);
  });

  test("refuses a folder that no row names", () => {
    expect(messages({ "controller/src/helpers/a.ts": "" })).toEqual([
      "controller/src/helpers/a.ts:1 is in a folder that has no row: give it one in scripts/layers/rules.ts",
    ]);
  });

  test("leaves tests free to look upward", () => {
    expect(messages({ "controller/src/kube/client.test.ts": 'import { a } from "../runtime/a.ts";' })).toEqual([]);
  });
});

describe("checkLayers() on plan.ts and predicates.ts", () => {
  const plan = "controller/src/controllers/node/plan.ts";

  test.each([
    ["values from api", 'import { a } from "../../api/taints.ts";'],
    ["values from util", 'import { a } from "../../util/equal.ts";'],
    ["values from another part of the plan", 'import { a } from "./plan-addresses.ts";'],
    ["types from any lower row", 'import type { A } from "../../kube/lister.ts";'],
    ["a date made of its arguments", "export const f = (ms: number) => new Date(ms);"],
    ["a property that is named like a global", "export const f = (x: X) => x.process;"],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [plan]: text })).toEqual([]);
  });

  test.each([
    ["a value from a lower row", 'import { a } from "../../kube/patch.ts";'],
    ["a value from its own folder", 'import { a } from "./events.ts";'],
    ["a value from a library", 'import { a } from "node:util";'],
    ["a mixed import", 'import { type A, b } from "../../kube/patch.ts";'],
    ["an async function", "export async function f() {}"],
    ["an async arrow", "export const f = async () => 1;"],
    ["await", "await f;"],
    ["the clock", "export const f = () => Date.now();"],
    ["the clock as a date", "export const f = () => new Date();"],
    ["randomness", "export const f = () => Math.random();"],
    ["the process", "export const f = () => process.env.A;"],
    ["the console", 'export const f = () => console.log("a");'],
    ["a timer", "export const f = () => setTimeout(g, 1);"],
  ])("refuses %s", (_sentence, text) => {
    expect(messages({ [plan]: text })).toHaveLength(1);
  });

  test("holds for predicates and for the parts of a split plan", () => {
    const text = "export const f = () => Date.now();";
    const folder = "controller/src/controllers/node";
    expect(
      messages({
        [`${folder}/predicates.ts`]: text,
        [`${folder}/plan-addresses.ts`]: text,
        [`${folder}/apply.ts`]: text,
      }),
    ).toEqual([
      `${folder}/predicates.ts:1 uses Date.now: a plan or predicate answers from its arguments alone`,
      `${folder}/plan-addresses.ts:1 uses Date.now: a plan or predicate answers from its arguments alone`,
    ]);
  });
});

describe("checkLayers() at the boundaries", () => {
  test("refuses a wrapped library's values outside the folder that wraps it, and allows its types", () => {
    expect(
      messages({
        "controller/src/runtime/a.ts": 'import { request } from "undici";',
        "controller/src/runtime/b.ts": 'import type { Agent } from "undici";',
      }),
    ).toEqual(["controller/src/runtime/a.ts:1 imports undici: only kube may, which wraps it for the others"]);
  });
});
