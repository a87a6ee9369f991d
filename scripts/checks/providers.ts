// Whether what can only be written by hand knows every provider: the references of tsconfig.json, and the chart's examples.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readProviders } from "../lib/providers.ts";
import { ROOT } from "../lib/run.ts";

const faults: string[] = [];
const tsconfig = readFileSync(join(ROOT, "tsconfig.json"), "utf8");
for (const { name, language, entry, chartExample, directory } of readProviders()) {
  if (language === "typescript" && !tsconfig.includes(`{ "path": "${directory}" }`))
    faults.push(`tsconfig.json: add { "path": "${directory}" } to the references`);
  for (const [what, path] of [
    ["entry", join(directory, entry)],
    ["chart.example", chartExample],
  ] as const)
    if (!existsSync(join(ROOT, path)))
      faults.push(`${directory}/provider.json: ${what} of ${name}: there is no ${path}`);
}
for (const fault of faults) console.log(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
