/** Writes the reference pages that derive from tables of the daemon. */
import { mkdirSync, writeFileSync } from "node:fs";
import { AUDIT_SCHEMA_FILE, auditPage } from "./reference/audit-page.ts";
import { auditSchema } from "./schemas/audit-schema.ts";
import { configSchema } from "./schemas/config-schema.ts";
import { configurationPage, SCHEMA_FILE } from "./reference/configuration-page.ts";
import { explainPage } from "./reference/explain-page.ts";
import { flagsPage } from "./reference/flags-page.ts";
import { RECORDING_SCHEMA_FILE, recordingPage } from "./reference/recording-page.ts";
import { recordingSchema } from "./schemas/recording-schema.ts";
import { conditionsPage } from "./reference/conditions-page.ts";
import { errorsPage } from "./reference/errors-page.ts";
import { eventsPage } from "./reference/events-page.ts";
import { metricsPage } from "./reference/metrics-page.ts";
import { reasonsPage } from "./reference/reasons-page.ts";
import { SURFACES, surfaceText } from "./surface.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  "flags.md": flagsPage,
  "configuration.md": configurationPage,
  "errors.md": errorsPage,
  "events.md": eventsPage,
  "conditions.md": conditionsPage,
  "metrics.md": metricsPage,
  "reasons.md": reasonsPage,
  "explain.md": explainPage,
  "audit-log.md": auditPage,
  [AUDIT_SCHEMA_FILE]: () => `${JSON.stringify(auditSchema(), undefined, 2)}\n`,
  "recording.md": recordingPage,
  [RECORDING_SCHEMA_FILE]: () => `${JSON.stringify(recordingSchema(), undefined, 2)}\n`,
  [SCHEMA_FILE]: () => `${JSON.stringify(configSchema(), undefined, 2)}\n`,
};

for (const [name, page] of Object.entries(PAGES)) {
  writeFileSync(new URL(`../../docs/reference/${name}`, import.meta.url), page());
}

const surfaces = new URL("../../docs/surface/", import.meta.url);
mkdirSync(surfaces, { recursive: true });
for (const [name, lines] of Object.entries(SURFACES)) writeFileSync(new URL(name, surfaces), surfaceText(lines()));
