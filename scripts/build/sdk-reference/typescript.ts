import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type ArrowFunctionExpression,
  type Class,
  type Comment,
  type Expression,
  type Function as FunctionNode,
  type MethodDefinition,
  type ObjectExpression,
  parseSync,
  type Program,
  type PropertyDefinition,
  type TSInterfaceDeclaration,
  type TSSignature,
  type TSTypeAliasDeclaration,
  type VariableDeclaration,
  Visitor,
} from "oxc-parser";
import type { SdkExport, SdkMember, SdkPackage } from "./model.ts";

/** A source file and what it declares at its top. */
interface Source {
  readonly path: string;
  readonly text: string;
  readonly comments: readonly Comment[];
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Local name to the file it is imported from; relative imports only. */
  readonly imports: ReadonlyMap<string, string>;
}

interface Declaration {
  readonly name: string;
  readonly exported: boolean;
  /** Where the statement begins, `export` included. */
  readonly start: number;
  readonly node: Declared;
}

type Declared = Class | FunctionNode | TSInterfaceDeclaration | TSTypeAliasDeclaration | VariableDeclaration;

/** Reads what the index files of a package's entries export. Every export is named there and comes from a file beside it. */
export const readTypeScript = (
  entries: readonly { readonly name: string; readonly doc: string; readonly indexPath: string }[],
): readonly SdkPackage[] => new Reader().packagesOf(entries);

class Reader {
  readonly #sources = new Map<string, Source>();

  packagesOf(
    entries: readonly { readonly name: string; readonly doc: string; readonly indexPath: string }[],
  ): readonly SdkPackage[] {
    const packages = entries.map(({ indexPath, ...entry }) => ({ ...entry, found: this.#namesIn(indexPath) }));
    const names = new Set(packages.flatMap(({ found }) => found.map(({ name }) => name)));
    return packages.map(({ name, doc, found }) => ({
      name,
      doc,
      exports: found.map((entry) => this.#export(entry.name, entry.source, names)),
    }));
  }

  #namesIn(indexPath: string): readonly { readonly name: string; readonly source: Source }[] {
    return parse(indexPath).program.body.flatMap((statement) => {
      if (statement.type === "ExportAllDeclaration") {
        const source = this.#source(join(dirname(indexPath), statement.source.value));
        return [...source.declarations.values()].filter((one) => one.exported).map(({ name }) => ({ name, source }));
      }
      if (statement.type !== "ExportNamedDeclaration" || !statement.source) return [];
      const source = this.#source(join(dirname(indexPath), statement.source.value));
      return statement.specifiers.map(({ exported }) => ({ name: nameOf(exported), source }));
    });
  }

  #source(path: string): Source {
    const known = this.#sources.get(path) ?? readSource(path);
    this.#sources.set(path, known);
    return known;
  }

  #export(name: string, source: Source, exported: ReadonlySet<string>): SdkExport {
    const declaration = source.declarations.get(name);
    if (!declaration) throw new Error(`${source.path} does not declare ${name}`);
    return {
      name,
      signature: signatureOf(declaration, source),
      doc: docBefore(declaration.start, source),
      members: membersOf(declaration, source),
      parts: this.#partsOf(declaration, source, exported),
    };
  }

  /** Interfaces and types that the declaration names, and that vendors cannot import: they are documented with it. */
  #partsOf(declaration: Declaration, source: Source, exported: ReadonlySet<string>): readonly SdkExport[] {
    return [...namedTypes(declaration.node)].flatMap((name) => {
      if (exported.has(name) || name === declaration.name) return [];
      const home = source.declarations.has(name) ? source : this.#importedFrom(name, source);
      const isType = home?.declarations.get(name)?.node.type.startsWith("TS") ?? false;
      return home && isType ? [this.#export(name, home, new Set([...exported, declaration.name]))] : [];
    });
  }

  #importedFrom(name: string, source: Source): Source | undefined {
    const path = source.imports.get(name);
    return path === undefined ? undefined : this.#source(path);
  }
}

const parse = (
  path: string,
): { readonly text: string; readonly program: Program; readonly comments: readonly Comment[] } => {
  const text = readFileSync(path, "utf8");
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message ?? ""}`);
  return { text, program, comments };
};

const readSource = (path: string): Source => {
  const { text, program, comments } = parse(path);
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, string>();
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration" && statement.source.value.startsWith("."))
      for (const { local } of statement.specifiers)
        imports.set(local.name, join(dirname(path), statement.source.value));
    const exported = statement.type === "ExportNamedDeclaration";
    const node = exported ? statement.declaration : statement;
    if (!node || !isDeclared(node)) continue;
    const name = node.type === "VariableDeclaration" ? variableName(node) : node.id?.name;
    if (name !== undefined) declarations.set(name, { name, exported, start: statement.start, node });
  }
  return { path, text, comments, declarations, imports };
};

const declaredTypes: ReadonlySet<string> = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "VariableDeclaration",
  "ClassDeclaration",
  "FunctionDeclaration",
]);
const isDeclared = (node: { readonly type: string }): node is Declared => declaredTypes.has(node.type);

const variableName = (node: VariableDeclaration): string | undefined => {
  const id = node.declarations[0]?.id;
  return id?.type === "Identifier" ? id.name : undefined;
};

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: string }): string =>
  node.name ?? node.value ?? "";

/** Names of types within a declaration, but for those within the bodies of functions. */
const namedTypes = (node: Declared): ReadonlySet<string> => {
  const names = new Set<string>();
  const body = bodyOf(node);
  const add = (start: number, name: string | undefined): void => {
    if (name !== undefined && !(body && start >= body.start && start < body.end)) names.add(name);
  };
  new Visitor({
    TSTypeReference: ({ start, typeName }) => add(start, typeName.type === "Identifier" ? typeName.name : undefined),
    TSInterfaceHeritage: ({ start, expression }) =>
      add(start, expression.type === "Identifier" ? expression.name : undefined),
  }).visit({ type: "Program", body: [node], sourceType: "module", hashbang: null, start: node.start, end: node.end });
  return names;
};

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What is of no interest to a caller. */
const bodyOf = (node: Declared): Span | undefined => {
  if (node.type === "FunctionDeclaration") return node.body ?? undefined;
  if (node.type !== "VariableDeclaration") return undefined;
  const init = node.declarations[0]?.init;
  return init?.type === "ArrowFunctionExpression" ? init.body : undefined;
};

const signatureOf = ({ node, name }: Declaration, source: Source): string => {
  const until = (end: number) => withoutComments(node.start, end, source).trim();
  switch (node.type) {
    case "TSInterfaceDeclaration":
      return until(node.body.start);
    case "ClassDeclaration":
    case "ClassExpression":
      return until(node.body.start);
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "TSDeclareFunction":
    case "TSEmptyBodyFunctionExpression":
      return until(node.body?.start ?? node.end);
    case "TSTypeAliasDeclaration":
      return withoutReadonly(until(node.end).replace(/;$/, ""));
    case "VariableDeclaration":
      return variableSignature(node, name, source);
    default:
      throw new TypeError(`unknown declaration ${String(node satisfies never)}`);
  }
};

const variableSignature = (node: VariableDeclaration, name: string, source: Source): string => {
  const declarator = node.declarations[0];
  const type = declarator?.id.typeAnnotation;
  if (type) return withoutReadonly(`const ${name}${withoutComments(type.start, type.end, source)}`);
  if (declarator?.init?.type === "ArrowFunctionExpression")
    return withoutReadonly(functionSignature(name, declarator.init, source));
  if (objectOf(declarator?.init)) return `const ${name}`;
  if (declarator?.init && isConstant(declarator.init))
    return `const ${name} = ${withoutComments(declarator.init.start, declarator.init.end, source)}`;
  throw new Error(`${source.path}: say the type of ${name}, which is exported`);
};

const functionSignature = (name: string, node: ArrowFunctionExpression, source: Source): string => {
  if (!node.returnType) throw new Error(`${source.path}: say what ${name}() answers, which is exported`);
  const head = withoutComments(node.start, node.returnType.end, source);
  const asyncWord = "async ";
  return head.startsWith(asyncWord)
    ? `${asyncWord}function ${name}${head.slice(asyncWord.length)}`
    : `function ${name}${head}`;
};

/** A value that is its own type. */
const isConstant = (init: Expression): boolean =>
  init.type === "Literal" || (init.type === "TSAsExpression" && init.expression.type === "ArrayExpression");

/** An object of functions, `as const` or not. */
const objectOf = (init: Expression | null | undefined): ObjectExpression | undefined => {
  if (init?.type === "TSAsExpression") return objectOf(init.expression);
  return init?.type === "ObjectExpression" ? init : undefined;
};

/** Nearly everything is readonly: that word in each line would hide the others. */
const withoutReadonly = (text: string): string => text.replaceAll(/\breadonly (?!\w+\[\]|string\[\])/g, "");

const membersOf = ({ node }: Declaration, source: Source): readonly SdkMember[] => {
  switch (node.type) {
    case "TSInterfaceDeclaration":
      return node.body.body.filter((member) => !saysNever(member)).map((member) => interfaceMember(member, source));
    case "ClassDeclaration":
    case "ClassExpression":
      return classMembers(node, source);
    case "VariableDeclaration":
      return objectMembers(objectOf(node.declarations[0]?.init), source);
    default:
      return [];
  }
};

const objectMembers = (node: ObjectExpression | undefined, source: Source): readonly SdkMember[] =>
  (node?.properties ?? []).flatMap((property) => {
    if (property.type !== "Property" || property.value.type !== "ArrowFunctionExpression") return [];
    const name = source.text.slice(property.key.start, property.key.end);
    const signature = withoutReadonly(functionSignature(name, property.value, source)).replace("function ", "");
    return [{ name, signature, doc: docBefore(property.start, source) }];
  });

/** `get?: undefined` says only that the other half of a union is meant. */
const saysNever = (member: TSSignature): boolean =>
  member.type === "TSPropertySignature" && member.typeAnnotation?.typeAnnotation.type === "TSUndefinedKeyword";

const interfaceMember = (member: TSSignature, source: Source): SdkMember => {
  const signature = withoutComments(member.start, member.end, source).replace(/[;,]$/, "");
  const isNamed = member.type === "TSPropertySignature" || member.type === "TSMethodSignature";
  const name = isNamed ? source.text.slice(member.key.start, member.key.end) : signature;
  const doc = docBefore(member.start, source) || (name === "kind" ? "Discriminator." : "");
  return { name, signature: plainMember(signature), doc };
};

/** `?: T` says `| undefined` already. */
const plainMember = (signature: string): string =>
  signature
    .replaceAll(/\breadonly (?=[\w$]+\??:)/g, "")
    .replace(/^([\w$]+\?: .*?)(?:\s*\| undefined)$/s, "$1")
    .replace(/: \| /, ": ");

/** Where what a caller should know of a member ends: before the body of a method, before the value of a property. */
const headEnd = (member: MethodDefinition | PropertyDefinition): number | undefined => {
  if (member.type === "MethodDefinition") return member.value.body?.start;
  return "typeAnnotation" in member ? member.typeAnnotation?.end : undefined;
};

const classMembers = (node: Class, source: Source): readonly SdkMember[] =>
  node.body.body.flatMap((member) => {
    if (member.type !== "PropertyDefinition" && member.type !== "MethodDefinition") return [];
    // Private members are omitted; overridden ones are documented in the base class.
    if (member.key.type === "PrivateIdentifier" || member.override) return [];
    const name = source.text.slice(member.key.start, member.key.end);
    const head = headEnd(member);
    const signature = plainMember(
      withoutComments(member.start, head ?? member.end, source)
        .trim()
        .replace(/;$/, ""),
    );
    return [{ name, signature, doc: docBefore(member.start, source) }];
  });

/** Source text as it stands, less the comments in it. */
const withoutComments = (start: number, end: number, { text, comments }: Source): string => {
  const inside = comments.filter((comment) => comment.start >= start && comment.end <= end);
  let out = "";
  let from = start;
  for (const comment of inside) {
    out += text.slice(from, comment.start).trimEnd();
    from = comment.end;
  }
  return out + text.slice(from, end);
};

/** The documentation comment right before a place, as Markdown; empty if there is none. */
const docBefore = (start: number, { text, comments }: Source): string => {
  const comment = comments.findLast(({ end }) => end <= start);
  if (!comment || comment.type !== "Block" || !comment.value.startsWith("*")) return "";
  if (text.slice(comment.end, start).trim() !== "") return "";
  return comment.value
    .slice(1)
    .split("\n")
    .map((line) => line.trim().replace(/^\* ?/, ""))
    .join("\n")
    .trim()
    .replaceAll(/\{@link ([^}]+)\}/g, "`$1`");
};
