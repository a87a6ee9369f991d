import type { AnnotationSchema } from "../definition/provider.ts";
import { meaningOf, type ProgramOptions } from "./options.ts";

/** Tables for a provider's README, in Markdown, so that it says what the program does. */
export interface ReadmeTables {
  /** The program's options. */
  readonly options: ProgramOptions;
  /** Annotations of Services that the provider reads. */
  readonly annotations: readonly AnnotationSchema[];
  /** What all of their keys begin with; the table leaves it out. */
  readonly annotationPrefix: string;
}

/**
 * Answers a README with its tables as the program has them: between `<!-- begin options -->` and `<!-- end options -->`, and between
 * the same marks for `annotations`.
 *
 * @throws Error when a mark is missing
 */
export function withTables(readme: string, { options, annotations, annotationPrefix }: ReadmeTables): string {
  const filled = replaced(readme, "options", optionTable(options));
  return replaced(filled, "annotations", annotationTable(annotations, annotationPrefix));
}

function replaced(text: string, what: string, table: string): string {
  const [begin, end] = [`<!-- begin ${what} -->`, `<!-- end ${what} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the README has no part between ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
}

function optionTable(options: ProgramOptions): string {
  const rows = Object.entries(options).map(
    ([name, { valueName, env, ...option }]) =>
      `| \`--${name} ${escaped(valueName)}\` | \`${env}\` | ${meaningOf(option)} |`,
  );
  return ["| option | environment | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function annotationTable(annotations: readonly AnnotationSchema[], prefix: string): string {
  const rows = annotations.map(({ key, type, allowedValues, defaultValue, mutable, description }) => {
    const name = key.replace(prefix, "…");
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
