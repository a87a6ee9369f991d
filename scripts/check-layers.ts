// Who may import whom: prints each import that breaks a rule of layers/rules.ts.
import process from "node:process";
import { checkLayers } from "./layers/check.ts";
import { EXCEPTIONS } from "./layers/exceptions.ts";
import { treeTexts } from "./lib/tree.ts";

const files = await treeTexts("*.ts", "*.tsx", ":(exclude,glob)**/gen/**");
const found = checkLayers(files);
const violations = found.filter(({ path, message }) => !EXCEPTIONS.includes(`${path} ${message}`));
const needless = EXCEPTIONS.filter(
  (exception) => !found.some(({ path, message }) => exception === `${path} ${message}`),
);
for (const exception of needless) console.log(`no longer needed in scripts/layers/exceptions.ts: ${exception}`);
for (const { path, line, message } of violations) console.log(`${path}:${line} ${message}`);
console.log(`${files.size} files, ${violations.length} violations`);
process.exitCode = violations.length + needless.length === 0 ? 0 : 1;
