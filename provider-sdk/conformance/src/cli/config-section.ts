import { isAlias, isMap, isScalar, LineCounter, type Node, type Pair, parseDocument } from "yaml";
import { UsageError } from "../errors.ts";

/** A configuration's text and its mistakes, which are reported together, each with its line. */
export class ConfigFile {
  readonly #path: string;
  readonly #lines = new LineCounter();
  readonly #problems: { readonly line: number; readonly text: string }[] = [];
  readonly #document: ReturnType<typeof parseDocument>;

  constructor(text: string, path: string) {
    this.#path = path;
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    for (const { message, pos } of this.#document.errors) this.problem(pos[0], message);
    this.throwIfWrong();
  }

  /** The whole file. */
  root(): Section {
    const { contents } = this.#document;
    return new Section(this, isScalar(contents) && contents.value === null ? null : contents, "", 0);
  }

  /** The node that an alias means, or the node itself. */
  resolved(node: Node | null): Node | null {
    return isAlias(node) ? (node.resolve(this.#document) ?? null) : node;
  }

  /** What a node stands for, aliases and all. */
  valueOf(node: Node): unknown {
    return node.toJS(this.#document);
  }

  problem(offset: number, text: string): void {
    this.#problems.push({ line: Math.max(this.#lines.linePos(offset).line, 1), text });
  }

  throwIfWrong(): void {
    if (this.#problems.length === 0) return;
    const lines = this.#problems
      .toSorted((one, other) => one.line - other.line)
      .map(({ line, text }) => `\n  ${this.#path}:${line}: ${text}`);
    const count = lines.length === 1 ? "a mistake" : `${lines.length} mistakes`;
    throw new UsageError(`the configuration ${this.#path} has ${count}:${lines.join("")}`);
  }
}

/** A key of a mapping with what it has there. */
interface Entry {
  readonly offset: number;
  readonly value: Node | null;
}

/** One mapping of the file, which remembers what was asked of it. */
export class Section {
  readonly #file: ConfigFile;
  readonly #path: string;
  readonly #offset: number;
  readonly #entries = new Map<string, Entry>();
  readonly #known = new Set<string>();

  constructor(file: ConfigFile, node: Node | null, path: string, offset: number) {
    this.#file = file;
    this.#path = path;
    this.#offset = offset;
    if (node === null) return;
    if (isMap<Node, Node | null>(node)) for (const pair of node.items) this.#add(pair);
    else file.problem(node.range?.[0] ?? offset, `${path || "the file"} has to be a mapping`);
  }

  /** Names of what it has, asked for or not. */
  get keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  section(key: string): Section | undefined {
    const entry = this.#take(key);
    if (entry === undefined) return undefined;
    if (isMap(entry.value)) return new Section(this.#file, entry.value, this.#at(key), entry.offset);
    this.problem(key, "has to be a mapping");
    return undefined;
  }

  text(key: string): string | undefined {
    return this.#value(key, "a text", (value) => (typeof value === "string" ? value : undefined));
  }

  optional<Key extends string>(key: Key): { readonly [Name in Key]?: string } {
    const value = this.text(key);
    // oxlint-disable-next-line typescript/consistent-type-assertions -- a computed key has type string for the compiler
    return (value === undefined ? {} : { [key]: value }) as { readonly [Name in Key]?: string };
  }

  needed(key: string): string {
    if (!this.#entries.has(key)) this.#file.problem(this.#offset, `${this.#at(key)} is missing`);
    return this.text(key) ?? "";
  }

  texts(key: string): readonly string[] {
    const isText = (item: unknown): item is string => typeof item === "string";
    const wanted = "a list of texts";
    return this.#value(key, wanted, (value) => (isList(value) && value.every(isText) ? value : undefined)) ?? [];
  }

  positive(key: string): number | undefined {
    return this.#value(key, "a number above 0", (value) =>
      typeof value === "number" && value > 0 ? value : undefined,
    );
  }

  /** Whether it is set. */
  flag(key: string): boolean {
    return this.#value(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined)) ?? false;
  }

  /** A mapping of texts under a key, with the key. */
  textTable<Key extends string>(key: Key): { readonly [Name in Key]?: Readonly<Record<string, string>> } {
    const section = this.section(key);
    if (section === undefined) return {};
    const table = Object.fromEntries(section.keys.map((name) => [name, section.needed(name)]));
    // oxlint-disable-next-line typescript/consistent-type-assertions -- a computed key has type string for the compiler
    return { [key]: table } as { readonly [Name in Key]?: Readonly<Record<string, string>> };
  }

  /** Reports a mistake in the value of a key. */
  problem(key: string, text: string): void {
    this.#file.problem(this.#entries.get(key)?.offset ?? this.#offset, `${this.#at(key)} ${text}`);
  }

  refuseOthers(): void {
    for (const key of this.#entries.keys()) if (!this.#known.has(key)) this.problem(key, "is not known");
  }

  #add({ key, value }: Pair<Node, Node | null>): void {
    const offset = key.range?.[0] ?? this.#offset;
    this.#entries.set(String(this.#file.valueOf(key)), { offset, value: this.#file.resolved(value) });
  }

  #value<Value>(key: string, wanted: string, parse: (value: unknown) => Value | undefined): Value | undefined {
    const entry = this.#take(key);
    if (entry?.value == null) return undefined;
    const value = parse(this.#file.valueOf(entry.value));
    if (value === undefined) this.problem(key, `has to be ${wanted}`);
    return value;
  }

  /** A key without value is as good as none. */
  #take(key: string): Entry | undefined {
    this.#known.add(key);
    const entry = this.#entries.get(key);
    const isEmpty =
      entry === undefined || entry.value === null || (isScalar(entry.value) && entry.value.value === null);
    return isEmpty ? undefined : entry;
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
