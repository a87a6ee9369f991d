import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

describe("pureFindings()", () => {
  const plan = "controller/src/controllers/node/plan.ts";

  test.each([
    ["values from api", 'import { a } from "../../api/taints.ts";'],
    ["values from util", 'import { a } from "../../util/equal.ts";'],
    ["values from another part of the plan", 'import { a } from "./plan/addresses.ts";'],
    ["types from any lower row", 'import type { A } from "../../kube/lister.ts";'],
    ["a date made of its arguments", "export const f = (ms: number) => new Date(ms);"],
    ["a property that is named like a global", "export const f = (x: X) => x.process;"],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [plan]: text })).toEqual([]);
  });

  test.each([
    ["a value from a lower row", 'import { a } from "../../kube/patch.ts";'],
    ["a value from its own directory", 'import { a } from "./events.ts";'],
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

  test.each([
    ["predicates", "controllers/node/predicates.ts"],
    ["parts of a plan", "controllers/node/plan/addresses.ts"],
    ["the deletion guard", "controllers/node-lifecycle/guard/circuit-breaker.ts"],
    ["a record", "controllers/service/record/record.ts"],
    ["a transition", "controllers/service/record/transition.ts"],
  ])("holds for %s", (_sentence, path) => {
    const text = "export const f = () => Date.now();";
    expect(messages({ [`controller/src/${path}`]: text })).toEqual([
      `controller/src/${path}:1 uses Date.now: a pure file answers from its arguments alone`,
    ]);
  });

  test.each([
    ["what applies a plan", "controllers/node/apply.ts"],
    ["what keeps records", "controllers/service/record/records.ts"],
    ["plans that are no controller's", "observe/plan.ts"],
    ["tests", "controllers/node/plan.test.ts"],
  ])("does not hold for %s", (_sentence, path) => {
    expect(messages({ [`controller/src/${path}`]: "export const f = () => Date.now();" })).toEqual([]);
  });

  test("lets a part of a plan import values of the others in any directory", () => {
    const text =
      'import { a } from "../predicates.ts";\nimport { b } from "../plan.ts";\nimport { c } from "../guard/guard.ts";';
    expect(messages({ "controller/src/controllers/node/plan/addresses.ts": text })).toEqual([]);
  });
});

describe("explainFindings()", () => {
  const path = "controller/src/explain/evaluate/node.ts";

  test.each([
    ["values of a plan", 'import { a } from "../../controllers/node/plan.ts";'],
    ["values of the guard", 'import { a } from "../../controllers/node-lifecycle/guard/guard.ts";'],
    ["types of anything", 'import type { A } from "../../controllers/node/node-cache.ts";'],
    ["values of lower rows", 'import { a } from "../../provider/model/errors.ts";'],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [path]: text })).toEqual([]);
  });

  test("refuses a value of anything else of a controller", () => {
    expect(messages({ [path]: 'import { a, type B } from "../../controllers/node/apply.ts";' })).toEqual([
      `${path}:1 imports the value of controller/src/controllers/node/apply.ts: explain takes values of controllers only from their pure files`,
    ]);
  });
});
