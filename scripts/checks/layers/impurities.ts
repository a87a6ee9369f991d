import { type Node, Visitor } from "oxc-parser";
import type { Program } from "./source.ts";

/** Something that makes a function's answer depend on more than its arguments. */
export interface Impurity {
  readonly what: string;
  /** Offset in the text. */
  readonly at: number;
}

export interface ImpureNames {
  readonly globals: readonly string[];
  readonly members: readonly (readonly [string, string])[];
}

/** Waiting, clocks, randomness, process, log: whatever a pure file may not touch. */
export function impuritiesOf(program: Program, names: ImpureNames): readonly Impurity[] {
  const found: Impurity[] = [];
  const add = (node: { start: number }, what: string): void => {
    found.push({ what, at: node.start });
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
  }).visit(program);
  return found;
}

function isIdentifier(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}
