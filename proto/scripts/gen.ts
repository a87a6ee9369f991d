/** Regenerates everything in gen/ from the .proto files: TypeScript, descriptor set, rule and reason tables. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { methodTable } from "./method-table.ts";
import { fillSpecification } from "./spec.ts";
import { reasonTable, readRegistry, ruleTable } from "./tables.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const descriptorSet = "gen/descriptor-set.binpb";

const buf = (...args: readonly string[]) => execFileSync("buf", args, { cwd: root, stdio: "inherit" });

rmSync(`${root}gen`, { recursive: true, force: true });
mkdirSync(`${root}gen`);
buf("generate");
// Options are read from the descriptor set; their TypeScript would be unused and import 280 kB.
for (const unused of ["cloudprovider/v1/options.ts", "google/protobuf/descriptor.ts"]) rmSync(`${root}gen/${unused}`);
buf("build", "-o", descriptorSet);
const registry = readRegistry(readFileSync(root + descriptorSet));
writeFileSync(`${root}gen/rules.ts`, ruleTable(registry));
writeFileSync(`${root}gen/reasons.ts`, reasonTable(registry));
writeFileSync(`${root}gen/methods.ts`, methodTable(registry));
const specification = `${root}README.md`;
writeFileSync(specification, fillSpecification(readFileSync(specification, "utf8"), registry));
