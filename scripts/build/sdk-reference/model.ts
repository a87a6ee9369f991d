/** What a language's reader finds of an SDK. */
export interface SdkPackage {
  /** How a vendor imports it. */
  readonly name: string;
  /** What it is, Markdown; may be empty. */
  readonly doc: string;
  readonly exports: readonly SdkExport[];
}

/** One name that a vendor may use. */
export interface SdkExport {
  readonly name: string;
  /** Declaration without its body. */
  readonly signature: string;
  readonly doc: string;
  readonly members: readonly SdkMember[];
  /** Parts that cannot be imported by themselves but that the declaration names: bases, for instance. */
  readonly parts: readonly SdkExport[];
}

/** A property, field or method. */
export interface SdkMember {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
}

/** Names that have no documentation, each as `package: export.member`. */
export const undocumented = ({ name, exports }: SdkPackage): readonly string[] =>
  exports.flatMap((found) => undocumentedIn(found, `${name}: ${found.name}`));

const undocumentedIn = ({ doc, members, parts }: SdkExport, path: string): readonly string[] => [
  ...(doc === "" ? [path] : []),
  ...members.filter((member) => member.doc === "").map((member) => `${path}.${member.name}`),
  // A part without a text of its own is explained by what it is part of.
  ...parts.flatMap((part) => undocumentedIn({ ...part, doc: part.doc || doc }, `${path}, ${part.name}`)),
];

/** What a reader in another language printed. */
export const readPackages = (value: unknown): readonly SdkPackage[] =>
  list(value).map((entry) => ({
    name: text(entry, "name"),
    doc: text(entry, "doc"),
    exports: list(property(entry, "exports")).map(readExport),
  }));

const readExport = (value: unknown): SdkExport => ({
  ...readMember(value),
  members: list(property(value, "members")).map(readMember),
  parts: list(property(value, "parts")).map(readExport),
});

const readMember = (value: unknown): SdkMember => ({
  name: text(value, "name"),
  signature: text(value, "signature"),
  doc: text(value, "doc"),
});

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

/** Go says null for a list that is empty. */
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const text = (value: unknown, key: string): string => {
  const found = property(value, key);
  if (typeof found !== "string") throw new TypeError(`a reader printed no ${key}: ${JSON.stringify(value)}`);
  return found;
};
