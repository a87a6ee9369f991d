import { describe, expect, test } from "vitest";
import { unknownNames, unknownTests } from "./names.ts";

const REFERENCES: readonly (readonly [string, string])[] = [
  ["docs/reference/flags.md", "| `--leader-elect` | and `--v` |"],
  ["docs/reference/metrics.md", "`cloudwire_nodes`"],
  ["docs/reference/events.md", "| `Synced` |"],
  ["docs/explanation/serving.md", "| `/readyz/NAME` | `/debug/plans` |"],
];
const SOURCES = ['export const A = "cloudwire.dev/known";', "const prefix = `scope.cloudwire.dev/${name}`;"];

describe("unknownNames()", () => {
  test.each([
    "`--leader-elect` is ours, `kubectl get --all` and kubelet's `--node-ip` are not",
    "a dash -- or a rule --- is no flag",
    "cloudwire_nodes counts; event `Synced`; reason=Synced",
    "`/readyz/provider-east`, `/debug/plans`",
    "annotation cloudwire.dev/known, scope.cloudwire.dev/east",
    "@cloudwire/provider and registry.example.com/cloudwire are no annotations",
  ])("finds nothing in %j", (line) => {
    expect(unknownNames(new Map([...REFERENCES, ["docs/guides/a.md", line]]), SOURCES)).toEqual([]);
  });

  test.each([
    ["`--leader-elected`", "flag --leader-elected"],
    ["cloudwire_nodes_lost goes up", "metric cloudwire_nodes_lost"],
    ["an event `Sunk` says so", "event Sunk"],
    ["look at `/debug/pods`", "page /debug/pods"],
    ["cloudwire.dev/unheard-of", "annotation or label cloudwire.dev/unheard-of"],
  ])("finds in %j what does not exist", (line, name) => {
    const faults = unknownNames(new Map([...REFERENCES, ["docs/guides/a.md", `First.\n${line}`]]), SOURCES);
    expect(faults).toEqual([expect.stringContaining(`docs/guides/a.md:2 names ${name}: there is none in `)]);
  });

  test("looks at guides and explanations alone", () => {
    expect(unknownNames(new Map([...REFERENCES, ["bench/README.md", "`--unheard-of`"]]), SOURCES)).toEqual([]);
  });
});

describe("unknownTests()", () => {
  const tests = new Map([["test/a.test.ts", 'test("does what it must", () => {})']]);

  test("finds a title that its file has not, and a file that is not there", () => {
    const text =
      '["does what it must"](../test/a.test.ts), ["does more"](../test/a.test.ts), ["does what it must"](b.test.ts), [a file](b.test.ts)';
    expect(unknownTests(new Map([["docs/x.md", text]]), tests)).toEqual([
      'docs/x.md names the test "does more": test/a.test.ts has none of that name',
      'docs/x.md names the test "does what it must": docs/b.test.ts has none of that name',
    ]);
  });
});
