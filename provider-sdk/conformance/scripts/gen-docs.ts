/** Writes the rules that the kit cites, the reference pages of checks and rules, and the JSON Schema of reports. */
import { readFileSync, writeFileSync } from "node:fs";
import { reportSchema } from "../src/report/schema.ts";
import { checksPage } from "./checks-page.ts";
import { readRules, rulesModule } from "./rule-texts.ts";
import { rulesPage } from "./rules-page.ts";

const reference = new URL("../../../docs/reference/", import.meta.url);
const rules = readRules(readFileSync(new URL("../../../proto/README.md", import.meta.url), "utf8"));
writeFileSync(new URL("../src/gen/rule-texts.ts", import.meta.url), rulesModule(rules));
writeFileSync(new URL("conformance-checks.md", reference), checksPage());
writeFileSync(new URL("conformance-rules.md", reference), rulesPage(rules));
writeFileSync(new URL("conformance-report.schema.json", reference), `${JSON.stringify(reportSchema, undefined, 2)}\n`);
