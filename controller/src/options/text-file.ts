import { isRecord, type JsonRecord } from "../util/json.ts";
import { readYaml } from "./yaml-text.ts";

/** A kind of configuration file of Kubernetes'. */
export interface FileKind {
  readonly kind: string;
  readonly group: string;
  /** All fields but `apiVersion` and `kind`. */
  readonly fields: ReadonlySet<string>;
}

const VERSIONS = ["v1", "v1beta1", "v1alpha1"] as const;

/** What such a file says, and what is wrong with it but for the values of its fields. `document` undefined: it says nothing at all. */
export function readKubernetesFile(
  text: string,
  { kind, group, fields }: FileKind,
): { readonly document: JsonRecord | undefined; readonly problems: readonly string[] } {
  const yaml = readYaml(text);
  if (yaml.kind === "malformed") {
    return { document: undefined, problems: yaml.mistakes.map(({ line, what }) => `line ${line}: ${what}`) };
  }
  let document: unknown;
  try {
    document = yaml.document.toJS();
  } catch {
    // Without its words, which quote the alias.
    return { document: undefined, problems: ["has an alias (*) of something that is not there, or too many of them"] };
  }
  if (!isRecord(document)) return { document: undefined, problems: [`holds no ${kind}`] };
  const versions = VERSIONS.map((version) => `${group}/${version}`);
  const problems = [
    ...unknownFields(document, new Set(["apiVersion", "kind", ...fields]), kind),
    ...unless(document["kind"] === kind, `kind: is "${String(document["kind"])}", not ${kind}`),
    ...unless(
      versions.includes(String(document["apiVersion"])),
      `apiVersion: is "${String(document["apiVersion"])}", not one of ${versions.join(", ")}`,
    ),
  ];
  return { document, problems };
}

/** Fields of a record that nobody knows; `where` is the record's own path with a dot after it. */
export function unknownFields(
  record: JsonRecord,
  known: ReadonlySet<string>,
  kind: string,
  where = "",
): readonly string[] {
  return Object.keys(record)
    .filter((field) => !known.has(field))
    .map((field) => `${where}${field}: is not a field of ${kind}`);
}

/** The problem, if there is one. */
export function unless(holds: boolean, problem: string): readonly string[] {
  return holds ? [] : [problem];
}
