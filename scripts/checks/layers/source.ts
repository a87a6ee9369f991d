import { type ModuleExportName, type Node, parseSync, Visitor } from "oxc-parser";

/** One import, re-export, dynamic import or `import("x").T` of a file. */
export interface Import {
  readonly specifier: string;
  /** "type" leaves nothing behind at run time. */
  readonly kind: "type" | "value";
  /** Names that it takes from there, as they are there; empty where all are taken. */
  readonly names: readonly string[];
  readonly line: number;
}

export type Program = Parameters<Visitor["visit"]>[0];

/** Everything a file imports, in any spelling. */
export function importsOf(program: Program, lineAt: (offset: number) => number): readonly Import[] {
  const found: Import[] = [];
  const add = (node: { start: number }, specifier: unknown, isType: boolean, names: readonly string[] = []): void => {
    if (typeof specifier === "string") {
      found.push({ specifier, kind: isType ? "type" : "value", names, line: lineAt(node.start) });
    }
  };
  new Visitor({
    ImportDeclaration: (node) =>
      add(
        node,
        node.source.value,
        node.importKind === "type" ||
          allTypes(node.specifiers.map((name) => ("importKind" in name ? name.importKind : undefined))),
        node.specifiers.flatMap((name) => (name.type === "ImportSpecifier" ? [nameOf(name.imported)] : [])),
      ),
    ExportNamedDeclaration: (node) =>
      add(
        node,
        node.source?.value,
        node.exportKind === "type" || allTypes(node.specifiers.map((name) => name.exportKind)),
        node.specifiers.map((name) => nameOf(name.local)),
      ),
    ExportAllDeclaration: (node) => add(node, node.source.value, node.exportKind === "type"),
    ImportExpression: (node) => add(node, literal(node.source), false),
    TSImportType: (node) => add(node, literal(node.source), true),
    TSExternalModuleReference: (node) => add(node, literal(node.expression), false),
  }).visit(program);
  return found;
}

export function parse(path: string, text: string): Program {
  const { program, errors } = parseSync(path, text);
  const [first] = errors;
  if (first !== undefined) throw new Error(`${path} does not parse: ${first.message}`);
  return program;
}

/** Whether each name in the braces is marked `type`: nothing is left of such a statement at run time. */
function allTypes(kinds: readonly ("type" | "value" | undefined)[]): boolean {
  return kinds.length > 0 && kinds.every((kind) => kind === "type");
}

function literal(node: Node): unknown {
  return node.type === "Literal" ? node.value : undefined;
}

function nameOf(name: ModuleExportName): string {
  return name.type === "Literal" ? name.value : name.name;
}
