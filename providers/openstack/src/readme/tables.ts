import { annotationSchemas } from "../load-balancers/annotations.ts";
import { type Flag, flags } from "../options/flags.ts";

/** Stands before and after a part of the README that is written by the program. */
const marks = {
  options: ["<!-- begin options -->", "<!-- end options -->"],
  annotations: ["<!-- begin annotations -->", "<!-- end annotations -->"],
} as const;

/** The README with its generated parts as the sources have them. @throws Error when a mark is missing */
export function withTables(readme: string): string {
  return replaced(replaced(readme, marks.options, optionTable()), marks.annotations, annotationTable());
}

function replaced(text: string, [begin, end]: readonly [string, string], table: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the README has no part between ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}

function optionTable(): string {
  const rows = Object.entries<Flag>(flags).map(
    ([name, { valueName, env, help, repeated }]) =>
      `| \`--${name} ${escaped(valueName)}\` | \`${env}\` | ${help}${repeated ? " May be repeated." : ""} |`,
  );
  return ["| option | environment | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function annotationTable(): string {
  const rows = annotationSchemas.map(({ key, type, allowedValues, defaultValue, mutable, description }) => {
    const name = key.replace("loadbalancer.openstack.org/", "…");
    const values = allowedValues?.map((value) => `\`${value}\``).join(" ") ?? type;
    const otherwise = defaultValue === undefined ? "" : `\`${defaultValue}\``;
    return `| \`${name}\` | ${values} | ${otherwise} | ${mutable === true ? "yes" : "no"} | ${description} |`;
  });
  return ["| annotation | values | default | may change | meaning |", "| --- | --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}
