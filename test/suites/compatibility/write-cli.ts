import { writeFile } from "node:fs/promises";
import { PAGE, readCompatibility } from "./facts.ts";
import { compatibilityPage } from "./page.ts";

// Command: writes docs/reference/compatibility.md.
await writeFile(PAGE, compatibilityPage(await readCompatibility()));
