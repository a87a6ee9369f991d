import { posix } from "node:path";
import { BOUNDARIES, GUARD, PACKAGES, type PackageRule, PURE, ROWS, type RowRule } from "./rules.ts";
import { type Import, importsOf, impuritiesOf } from "./source.ts";

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A workspace package as the rules see it. */
interface Owner {
  readonly rule: PackageRule;
  readonly folder: string;
  readonly name: string;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
  readonly owner: Owner;
}

/** Checks every given source (path below the checkout's top, to its text) against the rules; nothing found means none broken. */
export function checkLayers(files: ReadonlyMap<string, string>): readonly Violation[] {
  const violations: Violation[] = [];
  for (const [path, text] of files) {
    const owner = ownerOf(path);
    if (owner === undefined) continue;
    const file: SourceFile = { path, text, owner, isTest: isTestFile(path, owner) };
    for (const imported of importsOf(path, text)) {
      for (const message of [
        packageFault(file, imported),
        rowFault(file, imported),
        pureFault(file, imported),
        boundaryFault(file, imported),
      ]) {
        if (message !== undefined) violations.push({ path, line: imported.line, message });
      }
    }
    violations.push(...unplaced(file), ...impurities(file));
  }
  return violations;
}

/** Imports of a controller's source that run upward or sideways in the table of rows. */
export function importsAgainstRows(files: ReadonlyMap<string, string>): readonly Violation[] {
  return [...files].flatMap(([path, text]) => {
    const owner = ownerOf(path);
    if (owner === undefined) return [];
    const file: SourceFile = { path, text, owner, isTest: isTestFile(path, owner) };
    return importsOf(path, text).flatMap((imported) => {
      const message = rowFault(file, imported);
      return message === undefined ? [] : [{ path, line: imported.line, message }];
    });
  });
}

/** Tests, and what stands in a folder named test for them. */
function isTestFile(path: string, { folder }: Owner): boolean {
  return (
    path.endsWith(".test.ts") ||
    path
      .slice(folder.length + 1)
      .split("/")
      .includes("test")
  );
}

function ownerOf(path: string): Owner | undefined {
  // The longest folder wins: test/control-plane is a package of its own within test.
  const owners = PACKAGES.flatMap((rule) => {
    const match = new RegExp(`^(${rule.folder.replace("*", "([^/]+)")})/`).exec(path);
    return match === null ? [] : [{ rule, folder: match[1] ?? "", name: rule.name.replace("*", match[2] ?? "") }];
  });
  return owners.toSorted((a, b) => b.folder.length - a.folder.length)[0];
}

/** Across packages: by name only, only packages the table allows; never by a path that leaves the own package. */
function packageFault({ path, isTest, owner }: SourceFile, { specifier }: Import): string | undefined {
  const target = targetPath(path, specifier);
  if (target !== undefined) {
    if (ownerOf(target)?.folder === owner.folder) return undefined;
    return `imports ${specifier}, which leaves ${owner.name}: import the other package by its name`;
  }
  const scoped = /^@cloudwire\/[^/]+/.exec(specifier)?.[0];
  if (scoped === undefined || scoped === owner.name || scoped === GUARD) return undefined;
  const allowed = allowedFrom(path, owner, isTest);
  if (allowed.includes(scoped)) return undefined;
  return `imports ${scoped}: ${owner.name} may import ${allowed.length === 0 ? "no other package" : `only ${allowed.join(", ")}`}`;
}

/** Names of the packages that a file may import. */
function allowedFrom(path: string, { folder, rule }: Owner, isTest: boolean): readonly string[] {
  const { mayImport, testsMayImport = [], foldersMayImport = { folders: [], names: [] } } = rule;
  const isInFolder = foldersMayImport.folders.some((inner) => path.startsWith(`${folder}/${inner}/`));
  return [...mayImport, ...(isTest ? testsMayImport : []), ...(isInFolder ? foldersMayImport.names : [])];
}

function rowFault({ path, isTest }: SourceFile, { specifier }: Import): string | undefined {
  const rule = ROWS.find(({ sources }) => path.startsWith(`${sources}/`));
  const target = targetPath(path, specifier);
  if (rule === undefined || target === undefined || isTest || !target.startsWith(`${rule.sources}/`)) return undefined;
  const from = placeOf(rule, path);
  const to = placeOf(rule, target);
  if (from === undefined || to === undefined || from.unit === to.unit || to.row < from.row) return undefined;
  const direction = to.row === from.row ? "sideways" : "upward";
  return `imports ${to.unit} from ${from.unit}, ${direction}: a folder may import only from lower rows`;
}

/** A file in no row would escape the rule. */
function unplaced({ path, isTest }: SourceFile): readonly Violation[] {
  const rule = ROWS.find(({ sources }) => path.startsWith(`${sources}/`));
  if (rule === undefined || isTest || placeOf(rule, path) !== undefined) return [];
  return [{ path, line: 1, message: "is in a folder that has no row: give it one in scripts/layers/rules.ts" }];
}

function placeOf(rule: RowRule, path: string): { readonly row: number; readonly unit: string } | undefined {
  const [first = "", second] = path.slice(rule.sources.length + 1).split("/");
  for (const [row, units] of rule.rows.entries()) {
    if (units.includes(first)) return { row, unit: first };
    if (units.includes(`${first}/*`) && second !== undefined) return { row, unit: `${first}/${second}` };
  }
  return undefined;
}

function isPure({ path, isTest }: SourceFile): boolean {
  return !isTest && path.startsWith(`${PURE.sources}/`) && PURE.isPure(path);
}

function pureFault(file: SourceFile, { specifier, kind }: Import): string | undefined {
  if (!isPure(file) || kind === "type") return undefined;
  const target = targetPath(file.path, specifier);
  if (target !== undefined) {
    const [folder = ""] = target.slice(PURE.sources.length + 1).split("/");
    // A plan may be split over files of its own, which are as pure.
    const sibling =
      posix.dirname(target).startsWith(posix.dirname(file.path).replace(/\/(?:plan|guard)$/, "")) &&
      PURE.isPure(target);
    if (sibling || PURE.valueImports.some((allowed) => allowed === folder)) return undefined;
  }
  return `imports the value of ${specifier}: a plan or predicate takes values only from ${PURE.valueImports.join(" and ")}`;
}

function impurities(file: SourceFile): readonly Violation[] {
  if (!isPure(file)) return [];
  return impuritiesOf(file.path, file.text, PURE).map(({ what, line }) => ({
    path: file.path,
    line,
    message: `uses ${what}: a plan or predicate answers from its arguments alone`,
  }));
}

function boundaryFault({ path, isTest }: SourceFile, { specifier, kind }: Import): string | undefined {
  if (isTest || kind === "type") return undefined;
  const rule = BOUNDARIES.find(
    ({ sources, library }) =>
      path.startsWith(`${sources}/`) && (specifier === library || specifier.startsWith(`${library}/`)),
  );
  if (rule === undefined || path.startsWith(`${rule.sources}/${rule.folder}/`)) return undefined;
  return `imports ${specifier}: only ${rule.folder} may, which wraps it for the others`;
}

/** Where a relative import leads, as a path below the top; undefined for a package. */
function targetPath(path: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}
