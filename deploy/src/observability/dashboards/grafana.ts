import type { Dashboard, Panel, Row, Variable } from "./dashboard.ts";

const COLUMNS = 24;
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 8, h: 8 } } as const;

/** Grafana 11's schema; later versions take it over by themselves. */
const SCHEMA_VERSION = 39;

const DATASOURCE = { type: "prometheus", uid: `\${datasource}` } as const;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The dashboard as Grafana imports it: panels side by side in their order, and below each other where a row is full. */
export function grafanaDashboard({ uid, title, description, variables, rows }: Dashboard): object {
  return {
    uid,
    title,
    description,
    tags: ["cloudwire", "kubernetes"],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "",
    templating: { list: [datasourceVariable, ...variables.map(grafanaVariable)] },
    panels: laidOut(rows),
  };
}

const datasourceVariable = {
  name: "datasource",
  label: "Data source",
  type: "datasource",
  query: "prometheus",
  hide: 0,
};

function grafanaVariable({ name, label, query, isMulti }: Variable): object {
  return {
    name,
    label,
    type: "query",
    datasource: DATASOURCE,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    hide: 0,
    multi: isMulti,
    includeAll: isMulti,
    ...(isMulti ? { allValue: ".+", current: { text: "All", value: "$__all" } } : {}),
  };
}

function laidOut(rows: readonly Row[]): readonly object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
    });
    y += 1;
    let place: Place = { x: 0, y, w: 0, h: 0 };
    for (const panel of own) {
      place = nextPlace(place, SIZES[panel.kind]);
      panels.push(grafanaPanel(panel, panels.length + 1, place));
    }
    y = place.y + place.h;
  }
  return panels;
}

/** To the right of the one before, or below it. */
function nextPlace({ x, y, w, h }: Place, size: { readonly w: number; readonly h: number }): Place {
  const fits = x + w + size.w <= COLUMNS && (w === 0 || size.h === h);
  return fits ? { ...size, x: x + w, y } : { ...size, x: 0, y: y + h };
}

function grafanaPanel(panel: Panel, id: number, gridPos: Place): object {
  const { kind, title, description, unit, queries } = panel;
  return {
    id,
    type: kind,
    title,
    description,
    gridPos,
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: { unit, ...(kind === "stat" ? statDefaults(panel) : lineDefaults(panel)) },
      overrides: [],
    },
    options: kind === "stat" ? { ...STAT_OPTIONS, textMode: panel.showsNames ? "name" : "auto" } : LINE_OPTIONS,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint("A".charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(kind === "stat" ? { instant: true } : { range: true }),
    })),
  };
}

const STAT_OPTIONS = {
  reduceOptions: { calcs: ["lastNotNull"], values: false, fields: "" },
  colorMode: "background",
  graphMode: "none",
};

const LINE_OPTIONS = {
  legend: { displayMode: "table", placement: "bottom", calcs: ["lastNotNull", "max"] },
  tooltip: { mode: "multi", sort: "desc" },
};

function statDefaults({ thresholds = [] }: Panel): object {
  const steps = thresholds.map(({ from, color }) => ({ value: from, color: color }));
  const isGreenBelow = thresholds.every(({ color }) => color !== "green");
  const base = { value: null, color: isGreenBelow ? "green" : "red" };
  return { color: { mode: "thresholds" }, thresholds: { mode: "absolute", steps: [base, ...steps] } };
}

function lineDefaults({ isStacked }: Panel): object {
  return {
    min: 0,
    custom: {
      drawStyle: "line",
      lineWidth: 1,
      fillOpacity: isStacked ? 30 : 5,
      showPoints: "never",
      stacking: { mode: isStacked ? "normal" : "none" },
    },
  };
}
