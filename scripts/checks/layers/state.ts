/** What a process has once is made by its first lines and handed down; nothing is remembered beside it. */
import { type Directive, type Expression, type Statement, type VariableDeclaration, Visitor } from "oxc-parser";
import { controllerPath, type Finding, type SourceFile } from "./file.ts";

const COLLECTIONS = ["Map", "Set", "WeakMap", "WeakSet"];
const READONLY = ["ReadonlyMap", "ReadonlySet"];

/** No `let`, no collection that can change at the top of a file, no static that can. */
export function moduleStateFindings(file: SourceFile): readonly Finding[] {
  if (controllerPath(file) === undefined) return [];
  const findings: Finding[] = [];
  const add = (at: number, what: string): void => {
    const message = `has ${what}: no state at the level of a module, which a second cluster in the process would share`;
    findings.push({ rule: "module-state", path: file.path, line: file.lineAt(at), message });
  };
  for (const declaration of file.program.body.flatMap(topDeclaration)) {
    if (declaration.kind !== "const") add(declaration.start, `a top-level ${declaration.kind}`);
    for (const { id, init } of declaration.declarations) {
      const collection = collectionMade(init);
      const annotation = id.type === "Identifier" ? id.typeAnnotation?.typeAnnotation : undefined;
      const isReadonly =
        annotation?.type === "TSTypeReference" &&
        annotation.typeName.type === "Identifier" &&
        READONLY.includes(annotation.typeName.name);
      if (collection !== undefined && !isReadonly)
        add(declaration.start, `a top-level ${collection} that is not of a Readonly type`);
    }
  }
  new Visitor({
    PropertyDefinition: (node) => {
      if (node.static && !node.readonly) add(node.start, "a static property that can be assigned");
    },
  }).visit(file.program);
  return findings;
}

function topDeclaration(statement: Directive | Statement): readonly VariableDeclaration[] {
  if (statement.type === "VariableDeclaration") return [statement];
  if (statement.type !== "ExportNamedDeclaration") return [];
  return statement.declaration?.type === "VariableDeclaration" ? [statement.declaration] : [];
}

function collectionMade(init: Expression | null): string | undefined {
  if (init?.type !== "NewExpression" || init.callee.type !== "Identifier") return undefined;
  const { name } = init.callee;
  return COLLECTIONS.includes(name) ? name : undefined;
}

/** Imports that answer differently in each process. */
const OF_THE_PROCESS: ReadonlyMap<string, readonly string[] | "all"> = new Map<string, readonly string[] | "all">([
  ["node:process", "all"],
  ["node:os", ["hostname"]],
  ["node:crypto", ["randomUUID"]],
]);

/** The process, its host and its random IDs are read where it is put together; elsewhere they are arguments. */
export function processFindings(file: SourceFile): readonly Finding[] {
  const path = controllerPath(file);
  if (path === undefined || path === "main.ts" || path.startsWith("app/")) return [];
  const findings: Finding[] = [];
  const add = (line: number, what: string): void => {
    const message = `uses ${what}: only app and main.ts may, which hand it down`;
    findings.push({ rule: "process", path: file.path, line, message });
  };
  for (const { specifier, names, kind, line } of file.imports) {
    const refused = OF_THE_PROCESS.get(specifier);
    if (refused === undefined || kind === "type") continue;
    if (refused === "all") add(line, specifier);
    else for (const name of names) if (refused.includes(name)) add(line, name);
  }
  const isImported = file.imports.some(({ specifier }) => specifier === "node:process");
  new Visitor({
    MemberExpression: ({ object, property, start }) => {
      if (object.type !== "Identifier") return;
      if (object.name === "process" && !isImported) add(file.lineAt(start), "process");
      if (object.name === "crypto" && property.type === "Identifier" && property.name === "randomUUID") {
        add(file.lineAt(start), "randomUUID");
      }
    },
  }).visit(file.program);
  return findings;
}
