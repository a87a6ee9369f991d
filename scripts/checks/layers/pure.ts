/** Files that decide: values in, values out. */
import { CONTROLLER, controllerPath, controllerTarget, type Finding, type SourceFile } from "./file.ts";
import type { Import } from "./source.ts";
import { impuritiesOf } from "./impurities.ts";

/** Directories that a pure file may take values from, besides pure files of its own controller. */
const VALUE_IMPORTS = ["api", "util"];

/** Beside the process, which few files at all may use. */
const IMPURE = {
  globals: [
    "console",
    "performance",
    "crypto",
    "fetch",
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
    "globalThis",
  ],
  members: [
    ["Date", "now"],
    ["Math", "random"],
  ],
} as const;

const PURE =
  /^controllers\/([^/]+)\/(?:(?:plan|predicates)\.ts|(?:plan|guard)\/[^/]+\.ts|record\/(?:record|transition)\.ts)$/;

/** Whose pure file it is; undefined of one that is not pure. `path` is below the controller's sources. */
function pureOwner(path: string): string | undefined {
  return PURE.exec(path)?.[1];
}

export function pureFindings(file: SourceFile): readonly Finding[] {
  const { path } = file;
  const own = pureOwner(controllerPath(file) ?? "");
  if (own === undefined) return [];
  return [
    ...file.imports
      .filter((imported) => imported.kind === "value" && !isAllowed(file, imported, own))
      .map(
        ({ specifier, line }): Finding => ({
          rule: "pure",
          path,
          line,
          message: `imports the value of ${specifier}: a pure file takes values only from ${VALUE_IMPORTS.join(" and ")} and from pure files of its controller`,
        }),
      ),
    ...impuritiesOf(file.program, IMPURE).map(
      ({ what, at }): Finding => ({
        rule: "pure",
        path,
        line: file.lineAt(at),
        message: `uses ${what}: a pure file answers from its arguments alone`,
      }),
    ),
  ];
}

function isAllowed(file: SourceFile, imported: Import, own: string): boolean {
  const target = controllerTarget(file, imported);
  if (target === undefined) return false;
  return VALUE_IMPORTS.includes(target.split("/")[0] ?? "") || pureOwner(target) === own;
}

/** Explain evaluates with the pure rules of controllers and calls none of their actions. */
export function explainFindings(file: SourceFile): readonly Finding[] {
  if (controllerPath(file)?.startsWith("explain/") !== true) return [];
  return file.imports.flatMap((imported) => {
    const target = controllerTarget(file, imported);
    if (imported.kind === "type" || target?.startsWith("controllers/") !== true || pureOwner(target) !== undefined)
      return [];
    const message = `imports the value of ${CONTROLLER}/${target}: explain takes values of controllers only from their pure files`;
    return [{ rule: "explain", path: file.path, line: imported.line, message }];
  });
}
