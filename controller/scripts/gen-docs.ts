/** Writes the reference pages that derive from tables of the daemon. */
import { writeFileSync } from "node:fs";
import { flagsPage } from "./flags-page.ts";
import { metricsPage } from "./telemetry/metrics-page.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  "flags.md": flagsPage,
  "metrics.md": metricsPage,
};

for (const [name, page] of Object.entries(PAGES)) {
  writeFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), page());
}
