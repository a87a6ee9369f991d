/** A Go source file that is not a test. */
export interface GoFile {
  /** Below the module's directory, after the name of the module: `cloud-provider/options/options.go`. */
  readonly path: string;
  readonly text: string;
}

/** A call in Go source. */
export interface Call {
  /** Name of the function or method: `DurationVar`. */
  readonly name: string;
  /** Source text of each argument. */
  readonly args: readonly string[];
}

/** Calls of functions whose name matches. */
export function callsOf(text: string, name: RegExp): readonly Call[] {
  const source = withoutComments(text);
  return [...source.matchAll(/\b([A-Za-z]\w*)\(/g)].flatMap((match) => {
    const [whole, called = ""] = match;
    if (!name.test(called)) return [];
    const start = match.index + whole.length;
    return [{ name: called, args: argumentsOf(source.slice(start, closingOf(source, start))) }];
  });
}

/** Text between the braces that open at each match; the match ends with the brace. */
export function blocksOf(
  text: string,
  opening: RegExp,
): readonly { readonly match: RegExpExecArray; readonly body: string }[] {
  const source = withoutComments(text);
  return [...source.matchAll(opening)].map((match) => {
    const start = match.index + match[0].length;
    return { match, body: source.slice(start, closingOf(source, start)) };
  });
}

/** String constants of a package, by name. */
export function constantsOf(files: readonly GoFile[]): ReadonlyMap<string, string> {
  const found = files.flatMap(({ text }) =>
    [...withoutComments(text).matchAll(/^\s*(?:const |var )?(\w+)(?:\s+[\w.]+)?\s*=\s*"([^"]*)"$/gm)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    ),
  );
  return new Map(found);
}

/** The value of a string expression; undefined: not a literal or a known constant. */
export function stringOf(expression: string, constants: ReadonlyMap<string, string>): string | undefined {
  const literal = /^"((?:[^"\\]|\\.)*)"$/.exec(expression)?.[1];
  return literal ?? constants.get(expression.split(".").at(-1) ?? "");
}

/** Keeps strings, and the line structure. */
function withoutComments(text: string): string {
  return text.replaceAll(/("(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)+')|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, "$1");
}

const OPENING = new Set(["(", "{", "["]);
const CLOSING = new Set([")", "}", "]"]);

/** Visits the characters outside of strings, with the depth of brackets, until the visitor returns true. */
function scan(text: string, start: number, visit: (char: string, index: number, depth: number) => boolean): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '"' || char === "`" || char === "'") {
      index = endOfString(text, index);
      continue;
    }
    if (OPENING.has(char)) depth++;
    if (visit(char, index, depth)) return index;
    if (CLOSING.has(char)) depth--;
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let index = start + 1; index < text.length; index++) {
    if (text.charAt(index) === "\\" && quote !== "`") index++;
    else if (text.charAt(index) === quote) return index;
  }
  return text.length;
}

/** Index of the bracket that closes the one before `start`. */
function closingOf(text: string, start: number): number {
  return scan(text, start, (char, _index, depth) => depth === 0 && CLOSING.has(char));
}

function argumentsOf(text: string): readonly string[] {
  const args: string[] = [];
  let from = 0;
  scan(text, 0, (char, index, depth) => {
    if (char === "," && depth === 0) {
      args.push(text.slice(from, index));
      from = index + 1;
    }
    return false;
  });
  args.push(text.slice(from));
  return args.map((arg) => arg.replaceAll(/\s+/g, " ").trim()).filter((arg) => arg !== "");
}
