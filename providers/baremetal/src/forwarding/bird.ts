import { readFile } from "node:fs/promises";
import { output, type RunProgram } from "../edge/run-program.ts";
import { renderBird } from "../plan/bird-config.ts";
import { writeAtomically } from "../util/atomic-file.ts";

export interface BirdFiles {
  readonly include: string;
  readonly program: string;
  readonly socket: string | undefined;
}

/** Configures the addresses that BIRD announces over BGP. */
export interface Bird {
  readonly apply: (addresses: readonly string[]) => Promise<boolean>;
}

export function bird(run: RunProgram, { include, program, socket }: BirdFiles): Bird {
  // The last applied configuration. Applied once after a start, because the file can be newer than what BIRD has read.
  let applied: string | undefined;
  return {
    apply: async (addresses) => {
      const text = renderBird(addresses);
      if (text === applied) return false;
      const written = await readFile(include, "utf8").catch(() => undefined);
      // BIRD may run as another user.
      if (written !== text) await writeAtomically(include, text, 0o644);
      const answer = await output(run, program, [...(socket === undefined ? [] : ["-s", socket]), "configure"]);
      if (!/Reconfigur/.test(answer)) throw new Error(`BIRD did not accept ${include}: ${answer.trim().slice(-300)}`);
      applied = text;
      return true;
    },
  };
}
