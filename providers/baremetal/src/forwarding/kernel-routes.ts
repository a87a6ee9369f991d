import type { RunProgram } from "../edge/run-program.ts";
import { type KernelRoute, parseRoutes, planRoutes, type RouteTable } from "../plan/routes.ts";
import type { RouteRecord } from "../state/state.ts";

/** A routing table of the kernel. */
export interface KernelRoutes {
  readonly table: RouteTable;
  /** All its routes, whoever made them. */
  readonly read: () => Promise<readonly KernelRoute[]>;
  /** Brings routes of ours in and out, as they are wished when it is their turn; answers the table as it is then, and what the kernel said. */
  readonly sync: (
    wish: () => { readonly wanted: readonly RouteRecord[]; readonly unwanted: readonly RouteRecord[] },
  ) => Promise<{ readonly table: readonly KernelRoute[]; readonly message: string; readonly changes: number }>;
}

export function kernelRoutes(run: RunProgram, table: RouteTable): KernelRoutes {
  const readFamily = async (family: "-4" | "-6"): Promise<readonly KernelRoute[]> => {
    const args = ["-N", "-j", family, "route", "show", "table", String(table.table)];
    const { code, stdout, stderr } = await run("ip", args);
    if (code === 0) return parseRoutes(stdout);
    // A table without any route is none.
    if (/FIB table does not exist/.test(stderr)) return [];
    throw new Error(`ip ${args.join(" ")} ended with code ${code}: ${stderr.trim().slice(0, 300)}`);
  };
  const read = async (): Promise<readonly KernelRoute[]> =>
    (await Promise.all([readFamily("-4"), readFamily("-6")])).flat();
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what is planned has to be true when it is done. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    table,
    read,
    sync: (wish) =>
      inTurn(async () => {
        const before = await read();
        const { wanted, unwanted } = wish();
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
      }),
  };
}
