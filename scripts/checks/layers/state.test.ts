import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const CLIENT = "controller/src/kube/client.ts";

describe("moduleStateFindings()", () => {
  test.each([
    ["a constant", "const LIMIT = 3;"],
    ["a read-only set", 'export const A: ReadonlySet<string> = new Set(["a"]);'],
    ["a map within a function", "export function f() { let n = 0; return new Map([[n, n]]); }"],
    ["what a call chain carries", "const works = new AsyncLocalStorage<Work>();"],
    ["a static constant", "export class A { static readonly NAME = 1; static of() { return new A(); } }"],
    ["a field of an object", "export class A { readonly #seen = new Map(); #count = 0; }"],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [CLIENT]: text })).toEqual([]);
  });

  test.each([
    ["a variable", "let count = 0;", "a top-level let"],
    ["a variable that others see", "export let count = 0;", "a top-level let"],
    ["a map", "const seen = new Map<string, number>();", "a top-level Map that is not of a Readonly type"],
    ["a set with contents", 'export const A = new Set(["a"]);', "a top-level Set that is not of a Readonly type"],
    ["a map by its type", "const a: Map<string, A> = new Map();", "a top-level Map that is not of a Readonly type"],
    ["a weak map", "const seen = new WeakMap();", "a top-level WeakMap that is not of a Readonly type"],
    ["a static", "export class A { static #count = 0; }", "a static property that can be assigned"],
  ])("refuses %s", (_sentence, text, what) => {
    expect(messages({ [CLIENT]: text })).toEqual([
      `${CLIENT}:1 has ${what}: no state at the level of a module, which a second cluster in the process would share`,
    ]);
  });
});

describe("processFindings()", () => {
  test.each([
    ["main.ts", "process.exit(1);"],
    ["app/process.ts", 'import process from "node:process";\nimport { hostname } from "node:os";'],
    ["kube/client.ts", 'import { createHash } from "node:crypto";\nimport { tmpdir } from "node:os";'],
    ["kube/cluster.ts", "export const f = (context: C) => context.process.clock;"],
    ["kube/client.test.ts", "process.exit(1);"],
  ])("allows in %s: %s", (path, text) => {
    expect(messages({ [`controller/src/${path}`]: text })).toEqual([]);
  });

  test.each([
    ["process", "export const pid = () => process.pid;"],
    ["node:process", 'import { platform } from "node:process";'],
    ["node:process", 'import process from "node:process";\nprocess.exit(1);'],
    ["hostname", 'import { hostname as host } from "node:os";'],
    ["randomUUID", 'import { randomUUID } from "node:crypto";'],
    ["randomUUID", "export const id = () => crypto.randomUUID();"],
  ])("refuses %s: %s", (what, text) => {
    expect(messages({ [CLIENT]: text })).toEqual([
      `${CLIENT}:1 uses ${what}: only app and main.ts may, which hand it down`,
    ]);
  });
});
