// Import rules: prints each import that violates a rule of layers/.
import process from "node:process";
import { checkLayers } from "./layers/check.ts";
import { EXCEPTIONS } from "./layers/exceptions.ts";
import { treeTexts } from "../lib/tree.ts";

const files = await treeTexts("*.ts", "*.tsx", ":(exclude,glob)**/gen/**");
const violations = checkLayers(files, EXCEPTIONS);
for (const { path, line, message } of violations) console.log(`${path}:${line} ${message}`);
console.log(`${files.size} files, ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
