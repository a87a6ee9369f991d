import { OBJECT_KINDS, STATES } from "@cloudwire/operator-api";
import { TABLE } from "../src/app/options.ts";
import { REASONS } from "../src/explain/reasons/reasons.ts";
import type { ReasonRow } from "../src/explain/reasons/row.ts";
import { defaultText } from "../src/options/flag.ts";
import { commandFlags } from "../src/options/table.ts";
import { READY_ROWS } from "./reference/rows/condition-rows.ts";
import { EVENT_ROWS } from "./reference/rows/event-rows.ts";
import { MARK_ROWS } from "./reference/rows/mark-rows.ts";
import { meaningOf } from "./reference/rows/metric-labels.ts";
import { METRIC_PARTS } from "./reference/rows/metric-parts.ts";
import { configSchema } from "./schemas/config-schema.ts";

/**
 * What operators and their programs depend on, a file each below docs/surface, one name a line: a change of one shows in review. Texts
 * that only people read are left out.
 */
export const SURFACES: Readonly<Record<string, () => readonly string[]>> = {
  "flags.txt": flags,
  "configuration.txt": configuration,
  "metrics.txt": metrics,
  "events.txt": () => EVENT_ROWS.map(({ source, event }) => `${source} ${event.type} ${event.reason}`),
  "conditions.txt": () => READY_ROWS.map(({ readiness }) => `Service ${readiness.status} ${readiness.reason}`),
  "annotations.txt": () => MARK_ROWS.map(({ object, mark }) => `${object} ${mark.replace(/: `.*$/, "")}`),
  "explain.txt": explanations,
};

/** The file's text: its lines once each, in the order of the alphabet. */
export function surfaceText(lines: readonly string[]): string {
  return `${[...new Set(lines)].toSorted().join("\n")}\n`;
}

function flags(): readonly string[] {
  const own = [...TABLE.byName.values()].map(
    ({ name, flag }) =>
      `--${name}=${flag.valueName ?? "BOOLEAN"} default ${JSON.stringify(defaultText(flag))}${flag.reloadable === true ? ", reloadable" : ""}`,
  );
  return [...own, ...[...commandFlags.keys()].map((name) => `--${name}`)];
}

interface SchemaNode {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

function configuration(): readonly string[] {
  return settingsOf(configSchema(), "");
}

function settingsOf({ properties, ...schema }: SchemaNode, path: string): readonly string[] {
  if (properties === undefined)
    return [`${path} ${JSON.stringify(schema.type ?? schema.const ?? schema.enum ?? "any")}`];
  return Object.entries(properties).flatMap(([name, below]) =>
    settingsOf(below, path === "" ? name : `${path}.${name}`),
  );
}

function metrics(): readonly string[] {
  return METRIC_PARTS.flatMap(({ families }) =>
    families.flatMap(({ name, kind, labels }) => [
      `${name} ${kind}`,
      ...labels.flatMap((label) => {
        const meaning = meaningOf(name, label);
        const values = meaning === undefined || typeof meaning === "string" ? [] : [...meaning].map(([value]) => value);
        return [`${name}{${label}}`, ...values.map((value) => `${name}{${label}=${JSON.stringify(value)}}`)];
      }),
    ]),
  );
}

function explanations(): readonly string[] {
  const reasons = OBJECT_KINDS.flatMap((kind) =>
    Object.entries<ReasonRow>(REASONS).flatMap(([reason, { of, state }]) =>
      of.includes(kind) ? [`${kind} ${reason} ${state}`] : [],
    ),
  );
  return [...STATES.map((state) => `state ${state}`), ...reasons];
}
