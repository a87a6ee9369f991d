import { fileURLToPath } from "node:url";
import { stopSignal } from "../lib/command-line.ts";
import { HELP, parseSoakOptions } from "./options.ts";
import { soak } from "./run.ts";

/** sysexits.h: the command was used incorrectly. */
const EXIT_USAGE = 64;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseSoakOptions(args, fileURLToPath(new URL("../../out/soak", import.meta.url)));
  switch (parsed.kind) {
    case "help":
      process.stdout.write(HELP);
      return 0;
    case "problems":
      for (const problem of parsed.problems) console.error(`soak: ${problem}`);
      return EXIT_USAGE;
    case "options": {
      const faults = await soak(parsed.options, (line) => console.log(line), stopSignal());
      console.log(faults.length === 0 ? "\nPASS" : `\nFAIL\n- ${faults.join("\n- ")}`);
      console.log(`Samples and logs: ${parsed.options.out}`);
      return faults.length === 0 ? 0 : 1;
    }
    default:
      return parsed satisfies never;
  }
}
