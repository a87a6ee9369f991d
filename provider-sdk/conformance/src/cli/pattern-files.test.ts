import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withPatternFiles } from "./pattern-files.ts";

const none = { run: [], skip: [], knownFailing: [], knownFlaky: [] };

const fileOf = async (text: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-patterns-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, "patterns.txt");
  await writeFile(path, text);
  return path;
};

test("withPatternFiles() puts a file's lines where its name stands, without what is for people", async () => {
  const path = await fileOf("# Known since May.\nerr.frame.*   # issue 12\r\n\n  lb.tags\n");
  expect(await withPatternFiles({ ...none, run: ["inst.*"], knownFailing: ["val.utf8", `@${path}`] })).toEqual({
    ...none,
    run: ["inst.*"],
    knownFailing: ["val.utf8", "err.frame.*", "lb.tags"],
  });
});

test("withPatternFiles() refuses a file that is not there, or that says nothing", async () => {
  await expect(withPatternFiles({ ...none, skip: ["@/nowhere.txt"] })).rejects.toThrow(
    /^the patterns in \/nowhere\.txt cannot be read: ENOENT/,
  );
  const empty = await fileOf("# nothing known\n");
  await expect(withPatternFiles({ ...none, knownFlaky: [`@${empty}`] })).rejects.toThrow("there are no patterns in ");
});
