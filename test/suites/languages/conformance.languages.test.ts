import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { everySubject } from "../conformance/every-subject.ts";
import { filesOf, indexOf, type Published, publishedOf } from "../conformance/published.ts";
import { runKit } from "../conformance/run-kit.ts";
import type { Subject } from "../conformance/subject.ts";
import { subjects } from "../conformance/subjects.ts";

/** Longer than the longest run. */
const TEST_MS = 660_000;

const committed = (name: string): Promise<string> =>
  readFile(new URL(`../../../docs/conformance/${name}`, import.meta.url), "utf8");

describe("the conformance kit", () => {
  // Side by side: runs wait more than they compute.
  test.concurrent.each(subjects.map((subject) => [subject.title, subject] as const))(
    "finds %s as its published report says, and leaves nothing in its cloud",
    async (_title, subject) => {
      const { code, output, report } = await runKit(subject);
      expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
      // Failures are reported in full before the pages are compared.
      expect(report.results.filter(({ result }) => result.kind === "fail" || result.kind === "error")).toEqual([]);
      const files = filesOf(publishedOf(report, subject), subject);
      for (const [name, text] of Object.entries(files))
        expect({ [name]: await committed(name) }).toEqual({ [name]: text });
    },
    TEST_MS,
  );

  test("the index says what the reports do", async () => {
    const publishedFor = async (subject: Subject): Promise<readonly [Subject, Published]> => [
      subject,
      JSON.parse(await committed(`${subject.name}.json`)),
    ];
    expect(await committed("README.md")).toBe(indexOf(await Promise.all(everySubject.map(publishedFor))));
  });
});
