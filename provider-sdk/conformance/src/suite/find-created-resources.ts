import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorText } from "../error-text.ts";
import { UsageError } from "../errors.ts";
import { clusterPrefix, type LedgerEntry } from "./created-resources.ts";
import { readLedger } from "./created-resources-file.ts";

/** A list that a run has left, in its file. */
export interface LeftLedger {
  readonly path: string;
  readonly entries: readonly LedgerEntry[];
  /** Of the run that wrote it; undefined where it tells of nothing that bears a stamp. */
  readonly runId: string | undefined;
  readonly ageMs: number;
}

/** Every list of a run in the folders and those in them. A file that a run still writes is young: its age is that of its last line. */
export const findLedgers = async (folders: readonly string[], nowMs: number): Promise<readonly LeftLedger[]> => {
  const found: LeftLedger[] = [];
  for (const folder of folders)
    for (const path of await ledgerPaths(folder)) {
      const left = await ledgerAt(path, nowMs);
      if (left !== undefined) found.push(left);
    }
  return found;
};

/** The list of one file; undefined: there is none. */
export const ledgerAt = async (path: string, nowMs: number): Promise<LeftLedger | undefined> => {
  const entries = readLedger(path);
  if (entries === undefined) return undefined;
  const { mtimeMs } = await stat(path);
  return { path, entries, runId: runIdOf(entries), ageMs: nowMs - mtimeMs };
};

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Whose stamp the things of a list bear. */
const runIdOf = (entries: readonly LedgerEntry[]): string | undefined => {
  const ids = entries.flatMap((entry) => ("context" in entry ? [entry.context.cluster?.id ?? ""] : []));
  return uuid.exec(ids[0]?.slice(clusterPrefix.length) ?? "")?.[0];
};

/** As runs name them: in the folder of a report, or where temporary files go. */
const isLedger = (name: string): boolean => name === "ledger.jsonl" || /^cloudwire-conformance-.*\.jsonl$/.test(name);

const ledgerPaths = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new UsageError(`the folder ${folder} cannot be searched for lists of runs: ${errorText(error)}`);
  });
  return names
    .filter((name) => isLedger(basename(name)))
    .map((name) => join(folder, name))
    .toSorted();
};
