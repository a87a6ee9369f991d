import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { type Published, filesOf, indexOf, publishedOf } from "../conformance/published.ts";
import { runAll } from "../conformance/run-all.ts";
import type { KitRun } from "../conformance/run-kit.ts";
import type { Subject } from "../conformance/subject.ts";
import { subjects } from "../conformance/subjects.ts";

const RUN_MS = 900_000;

const committed = (name: string): Promise<string> =>
  readFile(new URL(`../../../docs/conformance/${name}`, import.meta.url), "utf8");

let runs: ReadonlyMap<string, KitRun>;

const runOf = ({ name }: Subject): KitRun => {
  const run = runs.get(name);
  if (run === undefined) throw new Error(`the kit did not run on ${name}`);
  return run;
};

beforeAll(async () => {
  runs = await runAll(subjects);
}, RUN_MS);

describe("the conformance kit", () => {
  test.each(subjects.map((subject) => [subject.title, subject] as const))(
    "finds %s as its published report says, and leaves nothing in its cloud",
    async (_title, subject) => {
      const { code, output, report } = runOf(subject);
      expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
      // What is wrong is told in full before the pages are compared.
      expect(report.results.filter(({ verdict }) => verdict.kind === "fail" || verdict.kind === "kit-error")).toEqual(
        [],
      );
      const files = filesOf(publishedOf(report, subject), subject);
      for (const [name, text] of Object.entries(files))
        expect({ [name]: await committed(name) }).toEqual({ [name]: text });
    },
  );

  test("finds what the index says", async () => {
    const all = subjects.map((subject): readonly [Subject, Published] => [
      subject,
      publishedOf(runOf(subject).report, subject),
    ]);
    expect(await committed("README.md")).toBe(indexOf(all));
  });
});
