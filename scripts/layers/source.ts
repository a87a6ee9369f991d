import { type Node, parseSync, Visitor } from "oxc-parser";

/** One import, re-export, dynamic import or `import("x").T` of a file. */
export interface Import {
  readonly specifier: string;
  /** "type" leaves nothing behind at run time. */
  readonly kind: "type" | "value";
  readonly line: number;
}

/** Something that makes a function's answer depend on more than its arguments. */
export interface Impurity {
  readonly what: string;
  readonly line: number;
}

export interface ImpureNames {
  readonly globals: readonly string[];
  readonly members: readonly (readonly [string, string])[];
}

/** Everything a file imports, in any spelling. */
export function importsOf(path: string, text: string): readonly Import[] {
  const found: Import[] = [];
  const add = (node: { start: number }, specifier: unknown, isType: boolean): void => {
    if (typeof specifier === "string") {
      found.push({ specifier, kind: isType ? "type" : "value", line: lineAt(text, node.start) });
    }
  };
  new Visitor({
    ImportDeclaration: (node) =>
      add(
        node,
        node.source.value,
        node.importKind === "type" ||
          allTypes(node.specifiers.map((name) => ("importKind" in name ? name.importKind : undefined))),
      ),
    ExportNamedDeclaration: (node) =>
      add(
        node,
        node.source?.value,
        node.exportKind === "type" || allTypes(node.specifiers.map((name) => name.exportKind)),
      ),
    ExportAllDeclaration: (node) => add(node, node.source.value, node.exportKind === "type"),
    ImportExpression: (node) => add(node, literal(node.source), false),
    TSImportType: (node) => add(node, literal(node.source), true),
    TSExternalModuleReference: (node) => add(node, literal(node.expression), false),
  }).visit(parse(path, text));
  return found;
}

/** Waiting, clocks, randomness, process, log: whatever a pure file may not touch. */
export function impuritiesOf(path: string, text: string, names: ImpureNames): readonly Impurity[] {
  const found: Impurity[] = [];
  const add = (node: { start: number }, what: string): void => {
    found.push({ what, line: lineAt(text, node.start) });
  };
  const addIfAsync = (node: { start: number; async: boolean }): void => {
    if (node.async) add(node, "async function");
  };
  new Visitor({
    FunctionDeclaration: addIfAsync,
    FunctionExpression: addIfAsync,
    ArrowFunctionExpression: addIfAsync,
    AwaitExpression: (node) => add(node, "await"),
    ImportExpression: (node) => add(node, "dynamic import"),
    NewExpression: (node) => {
      if (isIdentifier(node.callee, "Date") && node.arguments.length === 0) add(node, "new Date() without arguments");
    },
    CallExpression: (node) => {
      const called = node.callee.type === "Identifier" ? node.callee.name : undefined;
      if (called === "Date" || (called !== undefined && names.globals.includes(called))) add(node, `${called}()`);
    },
    MemberExpression: (node) => {
      if (node.object.type !== "Identifier") return;
      const object = node.object.name;
      const member = node.property.type === "Identifier" && !node.computed ? node.property.name : undefined;
      if (names.globals.includes(object)) add(node, object);
      else if (names.members.some(([o, m]) => o === object && m === member)) add(node, `${object}.${member}`);
    },
  }).visit(parse(path, text));
  return found;
}

function parse(path: string, text: string): Parameters<Visitor["visit"]>[0] {
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

function isIdentifier(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
