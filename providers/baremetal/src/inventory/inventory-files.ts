import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@cloudwire/provider-sdk";
import { coalesced } from "../util/coalesce.ts";
import { type Machine, type Machines, toMachines } from "./machine.ts";
import { type InventoryFile, parseInventory } from "./parse-inventory.ts";

/** Where machines are found. */
export interface MachineSource {
  /** The machines as they are now. Never rejects: what went wrong is among the problems. */
  readonly read: () => Promise<Machines>;
}

const maxFileBytes = 64 * 1024 * 1024;

/**
 * An inventory of files, read again on request if they have changed. Files that cannot be read, or are wrong, leave what was known
 * before in force, with the reason.
 * @param path of a YAML file, or of a directory whose `*.yaml` and `*.yml` are read
 */
export function inventoryFiles(path: string, log: Pick<Logger, "info" | "error">, now: () => Date): MachineSource {
  let machines: readonly Machine[] = [];
  let seen = "";
  let problems: readonly string[] = [];
  const refresh = coalesced(async (): Promise<void> => {
    const files = await readFiles(path);
    const text = JSON.stringify(files);
    if (text === seen) return;
    const parsed = typeof files === "string" ? { kind: "problems" as const, problems: [files] } : parseInventory(files);
    seen = text;
    if (parsed.kind === "value") {
      log.info("inventory read", { path, machines: parsed.value.length });
      [machines, problems] = [parsed.value, []];
      return;
    }
    problems = parsed.problems;
    log.error("The inventory is unusable; the last valid one stays in use", { path, problems });
  });
  return {
    read: async () => {
      const readTime = now();
      await refresh();
      return toMachines(machines, readTime, problems);
    },
  };
}

/** The files' names and contents, or the error. */
async function readFiles(path: string): Promise<readonly InventoryFile[] | string> {
  try {
    const paths = (await stat(path)).isDirectory() ? await yamlFiles(path) : [path];
    const files: InventoryFile[] = [];
    for (const file of paths) {
      if ((await stat(file)).size > maxFileBytes) return `${file}: is larger than ${maxFileBytes} bytes`;
      files.push({ name: file, text: await readFile(file, "utf8") });
    }
    return files;
  } catch (error) {
    return `${path}: cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function yamlFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => join(directory, name));
}
