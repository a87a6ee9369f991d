import { output, type RunProgram } from "../edge/run-program.ts";
import { revisionIn, type Ruleset } from "../plan/nft-ruleset.ts";

/** The table of ours in this machine's nftables. */
export interface Nftables {
  /** Revision in force; undefined: there is no table of ours. */
  readonly revision: () => Promise<string | undefined>;
  /** Puts the rules in the place of the table's. Answers whether anything had to be changed. */
  readonly apply: (ruleset: Ruleset) => Promise<boolean>;
}

const timeoutMs = 30_000;

export function nftables(run: RunProgram, program: string, table: string): Nftables {
  const revision = async (): Promise<string | undefined> => {
    const { code, stdout, stderr } = await run(program, ["list", "set", "inet", table, "revision"]);
    if (code === 0) return revisionIn(stdout);
    if (/No such file or directory/.test(stderr)) return undefined;
    throw new Error(`${program} cannot read table inet ${table}: ${stderr.trim().slice(0, 300)}`);
  };
  return {
    revision,
    apply: async ({ text, revision: wanted, isEmpty }) => {
      const current = await revision();
      if (isEmpty ? current === undefined : current === wanted) return false;
      await output(run, program, ["-f", "-"], { input: text, timeoutMs });
      return true;
    },
  };
}
