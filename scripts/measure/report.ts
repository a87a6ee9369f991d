import type { ControllerMeasurements, Measurements } from "./measurements.ts";
import type { Sizes } from "./sizes.ts";

/** One tree that was measured, under the name it was asked for by. */
export interface Measured {
  readonly name: string;
  readonly measurements: Measurements;
}

/**
 * Of 5f3353f, when there were neither rows as they are now nor lists of the walks: imports as they ran between the places where the
 * files belonged; walks by the test that keeps the lists now. By hand, files of one walk were counted as 64, 74 and 20.
 */
const TAKEN_BEFORE = { againstRows: 59, node: 70, service: 81, guard: 17 } as const;
const NOTE =
  "¹ taken once at 5f3353f, by the rules of today's layer check and of the test that keeps the lists of the walks";

const before = (count: number): string => `${count} ¹`;

const CONTROLLER_ROWS: readonly (readonly [string, (measurements: ControllerMeasurements) => number | string])[] = [
  ["source files", ({ files }) => files],
  ["lines", ({ lines }) => lines],
  ["median lines of a file", ({ medianLines }) => medianLines],
  ["90th percentile of lines", ({ p90Lines }) => p90Lines],
  ["files over 400 lines", ({ longFiles }) => longFiles],
  ["most source files in one directory", ({ fullestDirectory }) => fullestDirectory.files],
  ["the directory", ({ fullestDirectory }) => fullestDirectory.path],
  ["files with one importer", ({ oneImporter }) => oneImporter],
  ["files with one importer, under 50 lines", ({ oneImporterShort }) => oneImporterShort],
  ["imports against the rows", ({ againstRows }) => againstRows ?? before(TAKEN_BEFORE.againstRows)],
  ["import cycles, types included", ({ cycles }) => cycles],
  ["files on the way of a Node until it is initialized", ({ walks }) => walks.node ?? before(TAKEN_BEFORE.node)],
  [
    "files on the way of a Service until it has its address",
    ({ walks }) => walks.service ?? before(TAKEN_BEFORE.service),
  ],
  ["files of the deletion guard", ({ walks }) => walks.guard ?? before(TAKEN_BEFORE.guard)],
];

const PACKAGE_COLUMNS: readonly (readonly [string, (sizes: Sizes) => number])[] = [
  ["files", ({ files }) => files],
  ["median", ({ medianLines }) => medianLines],
  ["over 400", ({ longFiles }) => longFiles],
  ["in one directory", ({ fullestDirectory }) => fullestDirectory.files],
];

/** Both tables in Markdown: the controller's with a column for each tree, the packages' with each column's values in the same order. */
export function report(measured: readonly Measured[]): string {
  const names = measured.map(({ name }) => name);
  const controller = CONTROLLER_ROWS.map(([label, value]) => [
    label,
    ...measured.map(({ measurements }) => String(value(measurements.controller))),
  ]);
  const packageNames = [
    ...new Set(measured.flatMap(({ measurements }) => [...measurements.packages.keys()])),
  ].toSorted();
  const packages = packageNames.map((name) => [
    name,
    ...PACKAGE_COLUMNS.map(([, value]) =>
      measured
        .map(({ measurements }) => measurements.packages.get(name))
        .map((sizes) => (sizes === undefined ? "–" : String(value(sizes))))
        .join(" → "),
    ),
  ]);
  const isNoteNeeded = controller.some((cells) => cells.some((cell) => cell.endsWith("¹")));
  return [
    table(["`controller/src`, without tests and benchmarks", ...names], controller) +
      (isNoteNeeded ? `\n${NOTE}\n` : ""),
    table([`package (${names.join(" → ")})`, ...PACKAGE_COLUMNS.map(([label]) => label)], packages),
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `| ${padded.join(" | ")} |\n`;
  };
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return `${line(head)}${line(rule)}${rows.map(line).join("")}`;
}
