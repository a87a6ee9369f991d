import { readFile } from "node:fs/promises";
import { bytesOf } from "./proc-text.ts";
import { processTree } from "./process-tree.ts";

export interface ProcessUsage {
  /** In user and kernel mode, with that of children that ended. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Its share of memory: what is shared with others counts by the part. */
  readonly pssBytes: number;
  /** The most it ever was. */
  readonly peakRssBytes: number;
}

/** sysconf(_SC_CLK_TCK): 100 on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;

/** Fields 14 to 17 of /proc/PID/stat (proc(5)), counted from behind the name, which may hold anything. */
const CPU_FIELDS = [11, 12, 13, 14] as const;

export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  const [stat, status, rollup] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/status`, "utf8"),
    readFile(`/proc/${pid}/smaps_rollup`, "utf8"),
  ]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = CPU_FIELDS.reduce((sum, field) => sum + Number(fields[field]), 0);
  return {
    cpuSeconds: ticks / TICKS_A_SECOND,
    rssBytes: bytesOf(status, "VmRSS"),
    pssBytes: bytesOf(rollup, "Pss"),
    peakRssBytes: bytesOf(status, "VmHWM"),
  };
}

/** Of a process and all that it has started, together. */
export async function readTreeUsage(pid: number): Promise<ProcessUsage> {
  return sumOfUsages(await Promise.all((await processTree(pid)).map(readProcessUsage)));
}

export function sumOfUsages(usages: readonly ProcessUsage[]): ProcessUsage {
  const sum = (of: (usage: ProcessUsage) => number): number => usages.reduce((total, usage) => total + of(usage), 0);
  return {
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    rssBytes: sum(({ rssBytes }) => rssBytes),
    pssBytes: sum(({ pssBytes }) => pssBytes),
    peakRssBytes: sum(({ peakRssBytes }) => peakRssBytes),
  };
}
