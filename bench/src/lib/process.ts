import { readFile, readdir } from "node:fs/promises";

/** Resources of a process at one moment, from the kernel. */
export interface ProcessMeasurements {
  readonly pid: number;
  readonly rssBytes: number;
  /** Proportional set size: shared pages count partially. */
  readonly pssBytes: number;
  /** Memory that is its alone. */
  readonly privateBytes: number;
  readonly descriptors: number;
  readonly threads: number;
}

/** Undefined when there is no such process any more. */
export async function readProcessMeasurements(pid: number): Promise<ProcessMeasurements | undefined> {
  const directory = `/proc/${pid}`;
  try {
    const [status, rollup, descriptors] = await Promise.all([
      readFile(`${directory}/status`, "utf8"),
      readFile(`${directory}/smaps_rollup`, "utf8"),
      readdir(`${directory}/fd`),
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

/** Files of a process that ended are missing; one that is ending reports no memory. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
}

export interface ProcessUsage {
  /** In user and kernel mode, with that of children that ended. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Proportional set size: shared pages count partially. */
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

/** A process and all that it has started and that still run, such as those behind a launcher. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => ""))
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
  const below = await Promise.all(children.map(processTree));
  return [pid, ...below.flat()];
}

/** A number from a file of /proc of the form `Name: number unit`; 0 where there is no such line. */
function numberOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}

/** The same for values in kB, which are kibibytes. */
function bytesOf(text: string, name: string): number {
  return numberOf(text, name) * 1024;
}
