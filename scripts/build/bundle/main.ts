// Makes what is shipped: each program in a directory of its own, which needs nothing but Node (docs/decisions/0015).
//   npm run build                                    in dist/bundle of the program's package
//   node --conditions=development scripts/build/bundle/main.ts --out=DIR    in DIR/<program>
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readProviders } from "../../lib/providers.ts";
import { ROOT } from "../../lib/run.ts";
import { failOnUserError } from "../../lib/user-error.ts";
import { bundleProgram, type ProgramSource } from "./bundle.ts";

interface Program extends ProgramSource {
  /** Whose dist/bundle it goes to. */
  readonly packageDirectory: string;
}

const PROGRAMS: readonly Program[] = [
  {
    name: "cloudwire",
    source: "cli/src/main.ts",
    packageDirectory: "cli",
    // The last two are kubectl's names for a plug-in and what completes it.
    links: ["cloudwire", "kubectl-cloudwire", "kubectl_complete-cloudwire"],
  },
  {
    name: "cloudwire-controller-manager",
    source: "controller/src/main.ts",
    packageDirectory: "controller",
    hasPage: true,
  },
  ...readProviders()
    .filter(({ language }) => language === "typescript")
    .map(({ name, entry, directory }) => ({
      name: `cloudwire-provider-${name}`,
      source: `${directory}/${entry}`,
      packageDirectory: directory,
    })),
];

await failOnUserError("bundle", async () => {
  const { out } = parseArgs({ options: { out: { type: "string" } } }).values;
  for (const program of PROGRAMS) {
    const directory = out === undefined ? join(ROOT, program.packageDirectory, "dist/bundle") : join(out, program.name);
    const { fileCount, sizeBytes } = await bundleProgram(program, directory);
    console.log(`${program.name}: ${fileCount} files, ${(sizeBytes / 1e6).toFixed(1)} MB of code`);
  }
  return 0;
});
