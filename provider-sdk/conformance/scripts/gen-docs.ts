/** Writes the reference page of the checks, and the JSON Schema of reports. */
import { writeFileSync } from "node:fs";
import { reportSchema } from "../src/report/schema.ts";
import { checksPage } from "./checks-page.ts";

const reference = new URL("../../../docs/reference/", import.meta.url);
writeFileSync(new URL("conformance-checks.md", reference), checksPage());
writeFileSync(new URL("conformance-report.schema.json", reference), `${JSON.stringify(reportSchema, undefined, 2)}\n`);
