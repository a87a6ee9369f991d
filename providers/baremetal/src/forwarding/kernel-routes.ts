import type { RunProgram } from "../edge/run-program.ts";
import { type KernelRoute, parseRoutes, planRoutes, type RouteTable } from "../plan/routes.ts";
import type { RouteRecord } from "../state/state.ts";

/** Routes of a table as they are, and the means to change those of ours. */
export interface RouteAccess {
  /** All routes of the table, of any owner. */
  readonly read: () => Promise<readonly KernelRoute[]>;
  /** Adds and removes our routes; returns the resulting table and the kernel's message. */
  readonly sync: (change: RouteChange) => Promise<RouteOutcome>;
}

export interface RouteChange {
  readonly wanted?: readonly RouteRecord[];
  readonly unwanted?: readonly RouteRecord[];
}

export interface RouteOutcome {
  readonly table: readonly KernelRoute[];
  readonly message: string;
  readonly changes: number;
}

/** A routing table of the kernel. */
export interface KernelRoutes {
  readonly table: RouteTable;
  /** One operation at a time, so that the table and the state are consistent while it runs. */
  readonly inTurn: <Result>(work: (access: RouteAccess) => Promise<Result>) => Promise<Result>;
}

export function kernelRoutes(run: RunProgram, table: RouteTable): KernelRoutes {
  const readFamily = async (family: "-4" | "-6"): Promise<readonly KernelRoute[]> => {
    const args = ["-N", "-j", family, "route", "show", "table", String(table.table)];
    const { code, stdout, stderr } = await run("ip", args);
    if (code === 0) return parseRoutes(stdout);
    // A table without routes does not exist.
    if (/FIB table does not exist/.test(stderr)) return [];
    throw new Error(`ip ${args.join(" ")} exited with code ${code}: ${stderr.trim().slice(0, 300)}`);
  };
  const read = async (): Promise<readonly KernelRoute[]> =>
    (await Promise.all([readFamily("-4"), readFamily("-6")])).flat();
  const sync = async ({ wanted = [], unwanted = [] }: RouteChange): Promise<RouteOutcome> => {
    const before = await read();
    const { commands } = planRoutes(table, before, wanted, unwanted);
    if (commands.length === 0) return { table: before, message: "", changes: 0 };
    const messages: string[] = [];
    for (const [flag, isFamily] of [
      ["-4", (line: string) => !line.includes(":")],
      ["-6", (line: string) => line.includes(":")],
    ] as const) {
      const lines = commands.filter(isFamily);
      if (lines.length === 0) continue;
      const { stderr } = await run("ip", [flag, "-force", "-batch", "-"], { input: `${lines.join("\n")}\n` });
      messages.push(stderr.trim());
    }
    const message = messages.join(" ").trim().slice(0, 300);
    return { table: await read(), message, changes: commands.length };
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    table,
    inTurn: (work) => {
      const result = last.then(() => work({ read, sync }));
      last = result.catch(() => undefined);
      return result;
    },
  };
}
