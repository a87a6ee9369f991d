import { readdir, readFile, readlink } from "node:fs/promises";

/** Whether the process is there and not a zombie: PID 1 of a container may never reap the orphans of a killed parent. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return false;
  // "pid (name) state …"; the name may have spaces and parentheses.
  const state = stat.slice(stat.lastIndexOf(")") + 2).charAt(0);
  return state !== "Z" && state !== "X";
}

/** Process ids of the programs that the process started itself. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  return await pidsWhere(async (candidate) => {
    const status = await readFile(`/proc/${candidate}/status`, "utf8");
    return status.includes(`\nPPid:\t${pid}\n`);
  });
}

/** Process ids of the programs whose working directory is below `dir`. */
export async function runningIn(dir: string): Promise<readonly number[]> {
  return await pidsWhere(async (candidate) => (await readlink(`/proc/${candidate}/cwd`)).startsWith(dir));
}

async function pidsWhere(matches: (pid: number) => Promise<boolean>): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  // A process that ends while it is looked at matches nothing.
  const matching = await Promise.all(pids.map((pid) => matches(pid).catch(() => false)));
  return pids.filter((_, index) => matching[index]);
}
