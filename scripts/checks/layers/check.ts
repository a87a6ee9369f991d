import { identityFindings } from "./identity.ts";
import { libraryFindings, wireFindings } from "./boundaries.ts";
import type { Exception } from "./exceptions.ts";
import { CONTROLLER, type Finding, readSource, type SourceFile } from "./file.ts";
import { gatherFindings } from "./gather.ts";
import { eventFindings, metricFindings } from "./literals.ts";
import { isOwned, packageFindings } from "./packages.ts";
import { explainFindings, pureFindings } from "./pure.ts";
import { rowFindings } from "./rows.ts";
import { moduleStateFindings, processFindings } from "./state.ts";
import { cycleFindings, directoryFindings } from "./tree.ts";

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

const OF_A_FILE: readonly ((file: SourceFile) => readonly Finding[])[] = [
  packageFindings,
  rowFindings,
  pureFindings,
  explainFindings,
  gatherFindings,
  libraryFindings,
  wireFindings,
  identityFindings,
  eventFindings,
  moduleStateFindings,
  processFindings,
];

const OF_THE_TREE: readonly ((files: readonly SourceFile[]) => readonly Finding[])[] = [
  metricFindings,
  cycleFindings,
  directoryFindings,
];

/** Every place that breaks a rule, exceptions included. */
function findingsOf(texts: ReadonlyMap<string, string>): readonly Finding[] {
  const files = [...texts].filter(([path]) => isOwned(path)).map(([path, text]) => readSource(path, text));
  return [
    ...files.flatMap((file) => OF_A_FILE.flatMap((check) => check(file))),
    ...OF_THE_TREE.flatMap((check) => check(files)),
  ];
}

/**
 * Checks every given source (path below the checkout's top, to its text) against the rules, but for the exceptions; nothing found
 * means none broken, and no exception there without need.
 */
export function checkLayers(
  texts: ReadonlyMap<string, string>,
  exceptions: readonly Exception[] = [],
): readonly Violation[] {
  const findings = findingsOf(texts);
  const isMeant = ({ rule, places }: Exception, finding: Finding): boolean =>
    rule === finding.rule && places.includes(placeOf(finding));
  const needed = (rule: Exception["rule"], place: string): boolean =>
    findings.some((finding) => finding.rule === rule && placeOf(finding) === place);
  return [
    ...findings.filter((finding) => !exceptions.some((exception) => isMeant(exception, finding))),
    ...exceptions.flatMap(({ rule, places }) =>
      places
        .filter((place) => !needed(rule, place))
        .map((place) => ({
          path: place.split(" ")[0] ?? "",
          line: 1,
          message: `keeps the rule "${rule}" by now: remove "${place}" from scripts/checks/layers/exceptions.ts`,
        })),
    ),
  ];
}

/** As exceptions name it. */
function placeOf({ path, subject }: Finding): string {
  return subject === undefined ? path : `${path} → ${subject}`;
}

/** Imports of the controller's sources that run upward or sideways in the table of rows, exceptions included. */
export function importsAgainstRows(texts: ReadonlyMap<string, string>): number {
  return [...texts]
    .filter(([path]) => path.startsWith(`${CONTROLLER}/`))
    .flatMap(([path, text]) => rowFindings(readSource(path, text))).length;
}
