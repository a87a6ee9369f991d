/** Writes the reference pages that derive from tables of the daemon. */
import { writeFileSync } from "node:fs";
import { AUDIT_SCHEMA_FILE, auditPage } from "./audit-page.ts";
import { auditSchema } from "./audit-schema.ts";
import { configSchema } from "./config-schema.ts";
import { configurationPage, SCHEMA_FILE } from "./configuration-page.ts";
import { explainPage } from "./explain-page.ts";
import { flagsPage } from "./flags-page.ts";
import { RECORDING_SCHEMA_FILE, recordingPage } from "./recording-page.ts";
import { recordingSchema } from "./recording-schema.ts";
import { conditionsPage } from "./telemetry/conditions-page.ts";
import { errorsPage } from "./telemetry/errors-page.ts";
import { eventsPage } from "./telemetry/events-page.ts";
import { metricsPage } from "./telemetry/metrics-page.ts";

const PAGES: Readonly<Record<string, () => string>> = {
  "flags.md": flagsPage,
  "configuration.md": configurationPage,
  "errors.md": errorsPage,
  "events.md": eventsPage,
  "conditions.md": conditionsPage,
  "metrics.md": metricsPage,
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
