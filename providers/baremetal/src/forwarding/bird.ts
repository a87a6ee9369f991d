import { readFile } from "node:fs/promises";
import { output, type RunProgram } from "../edge/run-program.ts";
import { renderBird } from "../plan/bird-config.ts";
import { writeAtomically } from "../util/atomic-file.ts";

export interface BirdFiles {
  readonly include: string;
  readonly program: string;
  readonly socket: string | undefined;
}

/** Tells BIRD which addresses to announce; it does the BGP. */
export interface Bird {
  readonly apply: (addresses: readonly string[]) => Promise<boolean>;
}

export function bird(run: RunProgram, { include, program, socket }: BirdFiles): Bird {
  // What BIRD was told last; after a start it is told once, as the file may be newer than what it read.
  let told: string | undefined;
  return {
    apply: async (addresses) => {
      const text = renderBird(addresses);
      if (text === told) return false;
      const written = await readFile(include, "utf8").catch(() => undefined);
      // BIRD may run as another user.
      if (written !== text) await writeAtomically(include, text, 0o644);
      const answer = await output(run, program, [...(socket === undefined ? [] : ["-s", socket]), "configure"]);
      if (!/Reconfigur/.test(answer)) throw new Error(`BIRD did not take ${include}: ${answer.trim().slice(-300)}`);
      told = text;
      return true;
    },
  };
}
