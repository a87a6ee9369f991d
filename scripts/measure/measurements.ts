import { readSource } from "../checks/layers/file.ts";
import { importCycles, importerCounts, importGraph } from "../checks/layers/graph.ts";
import { importsAgainstRows } from "../checks/layers/check.ts";
import { byPackage, isSource, lineCount, type Sizes, sizesOf } from "./sizes.ts";
import { type Walk, walkCount, WALKS_PAGE } from "./walks.ts";

/** The package that is measured closely. */
const CONTROLLER = "controller/src/";
/** A file that only one other imports and that is shorter might as well be a part of it. */
const SHORT_LINES = 50;

/** There since the target rows hold. */
const TARGET_LAYOUT = `${CONTROLLER}leadership/`;

export interface ControllerMeasurements extends Sizes {
  readonly oneImporter: number;
  readonly oneImporterShort: number;
  /** Undefined in the layout that was before the rows. */
  readonly againstRows: number | undefined;
  readonly cycles: number;
  /** Files of each; undefined where the page does not list them. */
  readonly walks: Readonly<Record<Walk, number | undefined>>;
}

export interface Measurements {
  readonly controller: ControllerMeasurements;
  /** The other packages, by directory. */
  readonly packages: ReadonlyMap<string, Sizes>;
}

/** Measurements of a tree: path to text of its sources, its package.json files and the page of the walks. */
export function measurementsOf(tree: ReadonlyMap<string, string>): Measurements {
  const packages = [...byPackage(tree)].map(([name, files]) => [name, sizesOf(files)] as const);
  return {
    controller: controllerFigures(tree),
    packages: new Map(packages.filter(([name]) => name !== "controller")),
  };
}

function controllerFigures(tree: ReadonlyMap<string, string>): ControllerMeasurements {
  const files = new Map(
    [...tree].filter(([path]) => path.startsWith(CONTROLLER) && isSource(path.slice(CONTROLLER.length))),
  );
  const graph = importGraph([...files].map(([path, text]) => readSource(path, text)));
  const single = [...importerCounts(graph)].filter(([, count]) => count === 1).map(([path]) => path);
  const isTarget = [...files.keys()].some((path) => path.startsWith(TARGET_LAYOUT));
  const page = tree.get(WALKS_PAGE) ?? "";
  return {
    ...sizesOf(files),
    oneImporter: single.length,
    oneImporterShort: single.filter((path) => lineCount(files.get(path) ?? "") < SHORT_LINES).length,
    againstRows: isTarget ? importsAgainstRows(files) : undefined,
    cycles: importCycles(graph).length,
    walks: {
      node: walkCount(page, "node"),
      service: walkCount(page, "service"),
      guard: walkCount(page, "guard"),
    },
  };
}
