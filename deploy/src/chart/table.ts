import { type Field, isValue, type Value, type Values } from "./value.ts";

/** The README's table of values. */
export const valuesTable = (values: Values): string =>
  ["| value | default | meaning |", "| --- | --- | --- |", ...rows(values, "")].join("\n");

const rows = (values: Values, prefix: string): readonly string[] =>
  Object.entries(values).flatMap(([name, node]) => rowsOf(`${prefix}${name}`, node));

const rowsOf = (path: string, node: Value | Values): readonly string[] => {
  if (!isValue(node)) return rows(node, `${path}.`);
  return [
    row(path, `\`${JSON.stringify(node.default)}\``, node.about),
    ...Object.entries(node.items ?? {}).map(([name, field]) => fieldRow(`${path}[].${name}`, field)),
  ];
};

const fieldRow = (path: string, { about, isRequired = false }: Field): string =>
  row(path, isRequired ? "required" : "", about);

const row = (path: string, standard: string, about: string): string =>
  `| \`${path}\` | ${standard} | ${about.replaceAll("|", "\\|")} |`;
