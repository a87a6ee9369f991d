import { type Expression, parseSync, Visitor } from "oxc-parser";

/** One call of a logger. */
export interface LogCall {
  readonly path: string;
  readonly line: number;
  /** computed: `log[level](…)`. */
  readonly level: Level | "computed";
  /** undefined: it is not a constant text. */
  readonly message: string | undefined;
  /** Names of fields, as far as they are written out. */
  readonly fields: readonly string[];
}

type Level = "error" | "warn" | "info" | "debug";

const LEVELS: readonly Level[] = ["error", "warn", "info", "debug"];

/** Every call of a method of Logger on something that is called `log`. */
export function logCallsOf(path: string, text: string): readonly LogCall[] {
  const calls: LogCall[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: given, start }) => {
      if (callee.type !== "MemberExpression" || !isLog(callee.object)) return;
      const level = callee.computed ? "computed" : levelOf(callee.property);
      if (level === undefined) return;
      const [message, fields] = level === "debug" ? given.slice(1) : given;
      calls.push({
        path,
        line: text.slice(0, start).split("\n").length,
        level,
        message: message?.type === "Literal" && typeof message.value === "string" ? message.value : undefined,
        fields: fields?.type === "ObjectExpression" ? fields.properties.flatMap(keyOf) : [],
      });
    },
  }).visit(parseSync(path, text).program);
  return calls;
}

function levelOf(property: { readonly type: string; readonly name?: unknown }): Level | undefined {
  return LEVELS.find((level) => property.name === level);
}

/** `log`, `this.#log`, `deps.log`, `context.log`. */
function isLog(object: Expression | { readonly type: "Super" }): boolean {
  if (object.type === "Identifier") return object.name === "log";
  if (object.type !== "MemberExpression") return false;
  const { property } = object;
  return (property.type === "Identifier" || property.type === "PrivateIdentifier") && property.name === "log";
}

function keyOf(property: { readonly type: string; readonly key?: { readonly type: string } }): readonly string[] {
  const { key } = property;
  return key?.type === "Identifier" && "name" in key && typeof key.name === "string" ? [key.name] : [];
}
