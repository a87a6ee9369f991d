import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inventoryFiles, type MachineSource } from "./inventory-files.ts";

let directory: string;
let errors: unknown[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "inventory-"));
  errors = [];
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const log = { info: () => undefined, error: (_message: string, fields?: unknown) => void errors.push(fields) };
const open = (path: string): MachineSource => inventoryFiles(path, log, () => new Date(0));
const write = async (name: string, ...ids: readonly string[]): Promise<void> => {
  const rows = ids.map((id, index) => `{ id: ${id}, internalIPs: [10.0.${name.length}.${index}] }`);
  await writeFile(join(directory, name), `machines: [${rows.join(", ")}]`);
};
const known = async (source: MachineSource): Promise<readonly [readonly string[], number]> => {
  const { byId, problems } = await source.read();
  return [[...byId.keys()], problems.length];
};

describe("inventoryFiles()", () => {
  test("follows a file", async () => {
    await write("a.yaml", "m-1", "m-2");
    const source = open(join(directory, "a.yaml"));
    expect(await known(source)).toEqual([["m-1", "m-2"], 0]);
    await write("a.yaml", "m-2", "m-3");
    expect(await known(source)).toEqual([["m-2", "m-3"], 0]);
  });

  test("follows a directory, and reads nothing in it but YAML that is not hidden", async () => {
    await write("a.yaml", "m-1");
    await write(".b.yaml", "hidden");
    await write("notes.txt", "notes");
    const source = open(directory);
    expect(await known(source)).toEqual([["m-1"], 0]);
    await write("bcd.yml", "m-2");
    expect(await known(source)).toEqual([["m-1", "m-2"], 0]);
    await rm(join(directory, "a.yaml"));
    expect(await known(source)).toEqual([["m-2"], 0]);
  });

  test.each([
    ["is not valid YAML", async () => writeFile(join(directory, "a.yaml"), "machines: [")],
    ["is cut short", async () => writeFile(join(directory, "a.yaml"), "")],
    ["cannot be read", async () => mkdir(join(directory, "b.yaml"))],
    ["is gone, and the last of its directory", async () => rm(join(directory, "a.yaml"))],
    ["has gone with its directory", async () => rm(directory, { recursive: true })],
  ])("keeps what it knew when a file %s, says so once, and takes the next good one", async (_, harm) => {
    await write("a.yaml", "m-1");
    const source = open(directory);
    await source.read();
    await harm();
    expect(await known(source)).toEqual([["m-1"], 1]);
    expect(await known(source)).toEqual([["m-1"], 1]);
    expect(errors).toHaveLength(1);
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory);
    await write("a.yaml", "m-2");
    expect(await known(source)).toEqual([["m-2"], 0]);
  });

  test("knows nothing, and that it knows nothing, where the first inventory is broken", async () => {
    expect(await known(open(join(directory, "none.yaml")))).toEqual([[], 1]);
  });
});
