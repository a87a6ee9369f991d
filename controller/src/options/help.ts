import { defaultText, type Flag, type FlagGroup } from "./flag.ts";
import { commandFlags } from "./table.ts";
import { flagName, flags } from "../app/options.ts";

const WIDTH = 100;
const INDENT = " ".repeat(8);

/** What `--help` prints. */
export function helpText(program: string): string {
  const rows = Object.entries(flags).map(([key, flag]) => ({ name: flagName(key), flag }));
  const groups: readonly FlagGroup[] = [...new Set(rows.map(({ flag }) => flag.group))];
  const sections = groups.map((group) => {
    const own = rows.filter(({ flag }) => flag.group === group);
    return `${group.toUpperCase()}\n${own.map(({ name, flag }) => flagText(name, flag)).join("")}`;
  });
  return [
    `Usage: ${program} --provider NAME=ADDRESS [flags]\n`,
    "Runs the Kubernetes cloud controllers over clouds that provider sidecars serve (unix:// or tcp://).\n",
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
