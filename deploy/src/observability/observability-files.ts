import { ALERT_GROUPS } from "./alerts.ts";
import { DASHBOARDS } from "./dashboards.ts";
import { grafanaDashboard } from "./dashboards/grafana.ts";
import { ruleFile, trialFile } from "./rule-files.ts";

const RULES = "alerts.yaml";

/** Files of deploy/observability, by their path in it. */
export function observabilityFiles(): Readonly<Record<string, string>> {
  return {
    [RULES]: ruleFile(ALERT_GROUPS),
    "alerts.test.yaml": trialFile(ALERT_GROUPS, RULES),
    ...Object.fromEntries(
      DASHBOARDS.map((dashboard) => [
        `dashboards/${dashboard.uid}.json`,
        `${JSON.stringify(grafanaDashboard(dashboard), undefined, 1)}\n`,
      ]),
    ),
  };
}

/** The same for the chart, which can only read what is below it: dashboards on one line, for they are carried in a Secret. */
export function observabilityChartFiles(): Readonly<Record<string, string>> {
  const dashboards = DASHBOARDS.map((dashboard) => [
    `files/dashboards/${dashboard.uid}.json`,
    `${JSON.stringify(grafanaDashboard(dashboard))}\n`,
  ]);
  return { [`files/${RULES}`]: ruleFile(ALERT_GROUPS), ...Object.fromEntries(dashboards) };
}
