import { readdir, readFile } from "node:fs/promises";
import { bytesOf, numberOf } from "./proc-text.ts";

/** What the kernel says of a process at one moment. */
export interface ProcessFigures {
  readonly pid: number;
  readonly rssBytes: number;
  /** Its share of memory: what is shared with others counts by the part. */
  readonly pssBytes: number;
  /** Memory that is its alone. */
  readonly privateBytes: number;
  readonly descriptors: number;
  readonly threads: number;
}

/** Undefined when there is no such process any more. */
export async function readProcessFigures(pid: number): Promise<ProcessFigures | undefined> {
  const folder = `/proc/${pid}`;
  try {
    const [status, rollup, descriptors] = await Promise.all([
      readFile(`${folder}/status`, "utf8"),
      readFile(`${folder}/smaps_rollup`, "utf8"),
      readdir(`${folder}/fd`),
    ]);
    return {
      pid,
      rssBytes: bytesOf(status, "VmRSS"),
      pssBytes: bytesOf(rollup, "Pss"),
      privateBytes: bytesOf(rollup, "Private_Clean") + bytesOf(rollup, "Private_Dirty"),
      descriptors: descriptors.length,
      threads: numberOf(status, "Threads"),
    };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Files of a process that ended are missing; one that is ending has no memory to tell of. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
}
