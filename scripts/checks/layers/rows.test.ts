import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

describe("rowFindings() of the controller", () => {
  test.each([
    ["a lower row", "controller/src/kube/client.ts", "../telemetry/log.ts"],
    ["its own directory", "controller/src/kube/client.ts", "./errors.ts"],
    ["a library", "controller/src/kube/client.ts", "node:path"],
    ["everything, from the composition root", "controller/src/app/daemon.ts", "../controllers/node/controller.ts"],
  ])("allows %s", (_sentence, path, specifier) => {
    expect(messages({ [path]: `import { a } from "${specifier}";` })).toEqual([]);
  });

  test.each([
    ["upward", "controller/src/kube/client.ts", "../runtime/controller.ts", "imports runtime from kube, upward"],
    ["upward to the root", "controller/src/server/healthz.ts", "../app/daemon.ts", "imports app from server, upward"],
    ["sideways", "controller/src/kube/client.ts", "../provider/client.ts", "imports provider from kube, sideways"],
    [
      "of a server into leadership",
      "controller/src/server/health.ts",
      "../leadership/elector.ts",
      "imports leadership from server, sideways",
    ],
    ["upward to the program", "controller/src/app/cluster.ts", "../main.ts", "imports *.ts from app, upward"],
    [
      "of the rules of operators' pages into a controller",
      "controller/src/controllers/node/gather.ts",
      "../../explain/facts.ts",
      "imports explain from controllers/node, upward",
    ],
    [
      "one controller from another",
      "controller/src/controllers/node/gather.ts",
      "../service/gather.ts",
      "imports controllers/service from controllers/node, sideways",
    ],
  ])("refuses an import %s", (_sentence, path, specifier, begin) => {
    expect(messages({ [path]: `import { a } from "${specifier}";` })).toEqual([
      `${path}:1 ${begin}: a directory may import only from lower rows`,
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

  test("refuses a directory that no row names", () => {
    expect(messages({ "controller/src/helpers/a.ts": "" })).toEqual([
      "controller/src/helpers/a.ts:1 is in a directory that has no row: give it one in scripts/checks/layers/rows.ts",
    ]);
  });

  test("refuses a directory of controllers without a controller", () => {
    expect(messages({ "controller/src/controllers/shared.ts": "" })).toHaveLength(1);
  });

  test("leaves tests free to look upward", () => {
    expect(
      messages({
        "controller/src/kube/client.test.ts": 'import { a } from "../runtime/a.ts";',
        "controller/src/kube/client.bench.ts": 'import { a } from "../runtime/a.ts";',
      }),
    ).toEqual([]);
  });
});

describe("rowFindings() within provider", () => {
  test.each([
    ["what it converts to", "convert/instance.ts", "../model/instance.ts"],
    ["what it calls with", "calls/instances.ts", "../connection/transport.ts"],
    ["anything, from beside the directories", "providers.ts", "./lookup/instance-reader.ts"],
    ["what lies beside it", "sidecar.ts", "./options.ts"],
  ])("allows %s", (_sentence, path, specifier) => {
    expect(messages({ [`controller/src/provider/${path}`]: `import type { A } from "${specifier}";` })).toEqual([]);
  });

  test.each([
    ["upward", "model/client.ts", "../convert/methods.ts", "imports convert from model, upward"],
    ["sideways", "limits/call-budget.ts", "../observers/recorder.ts", "imports observers from limits, sideways"],
    ["out of the directories", "calls/session.ts", "../sidecar.ts", "imports *.ts from calls, upward"],
  ])("refuses an import %s", (_sentence, path, specifier, begin) => {
    const file = `controller/src/provider/${path}`;
    expect(messages({ [file]: `import type { A } from "${specifier}";` })).toEqual([
      `${file}:1 ${begin}: a directory may import only from lower rows`,
    ]);
  });

  test("refuses a directory without a row", () => {
    expect(messages({ "controller/src/provider/helpers/a.ts": "" })).toHaveLength(1);
  });
});
