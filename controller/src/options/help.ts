import { type Flag, type FlagGroup, defaultText } from "./flag.ts";
import { type FlagTable, commandFlags } from "./table.ts";

const WIDTH = 100;
const INDENT = " ".repeat(8);

/** @param head lines above the flags */
export function helpText({ byName }: FlagTable<unknown>, head: readonly string[]): string {
  const rows = [...byName.values()];
  const groups: readonly FlagGroup[] = [...new Set(rows.map(({ flag }) => flag.group))];
  const sections = groups.map((group) => {
    const own = rows.filter(({ flag }) => flag.group === group);
    return `${group.toUpperCase()}\n${own.map(({ name, flag }) => flagText(name, flag)).join("")}`;
  });
  return [
    ...head.map((line) => `${line}\n`),
    ...sections,
    `OTHER\n${[...commandFlags].map(([name, { help, letter }]) => `  --${name}${letter === undefined ? "" : `, -${letter}`}\n${INDENT}${help}\n`).join("")}`,
  ].join("\n");
}

function flagText(name: string, flag: Flag<unknown>): string {
  const dashes = name.length === 1 ? `-${name}, --${name}` : `--${name}`;
  const shown = defaultText(flag);
  const shownDefault = shown === "" ? "" : ` (default ${shown})`;
  return `  ${dashes}${flag.valueName === undefined ? "" : ` ${flag.valueName}`}\n${wrap(flag.help + shownDefault)}`;
}

function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (INDENT.length + last.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${INDENT}${line}\n`).join("");
}

interface Tree {
  [name: string]: unknown;
}

/** The current settings in the format of the configuration file (`/configz`). */
export function configTree<Options extends object>({ byPath }: FlagTable<Options>, options: Options): Tree {
  const values = new Map<string, unknown>(Object.entries(options));
  const tree: Tree = {};
  for (const [path, { key, flag }] of byPath) put(tree, path.split("."), flag.write(values.get(key)));
  return tree;
}

/** Each flag with its current value, sorted (`/flagz`). */
export function flagLines<Options extends object>({ byName }: FlagTable<Options>, options: Options): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(options));
  return [...byName.values()].map(({ name, key, flag }) => `${name}=${String(flag.write(values.get(key)))}`).toSorted();
}

function put(tree: Tree, [name = "", ...below]: readonly string[], value: unknown): void {
  if (below.length === 0) {
    tree[name] = value;
    return;
  }
  const branch = tree[name];
  const next: Tree = isTree(branch) ? branch : {};
  tree[name] = next;
  put(next, below, value);
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
