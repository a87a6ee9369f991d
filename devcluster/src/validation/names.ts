/** A rule for text: the complaints about a value, none when it is fine. The wording is the real server's, which clients and users match on. */
export type TextRule = (value: string) => readonly string[];

interface Pattern {
  readonly message: string;
  readonly format: string;
  readonly examples: readonly string[];
  readonly limitBytes: number;
  /** What the real server calls the unit of the limit; both are bytes. */
  readonly unit: "bytes" | "characters";
}

const labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const qualifiedFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const subdomain: Pattern = {
  message:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  format: `${labelFormat}(\\.${labelFormat})*`,
  examples: ["example.com"],
  limitBytes: 253,
  unit: "characters",
};
const label: Pattern = {
  message:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  format: labelFormat,
  examples: ["my-name", "123-abc"],
  limitBytes: 63,
  unit: "characters",
};
const labelKeyName: Pattern = {
  message:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  format: qualifiedFormat,
  examples: ["MyName", "my.name", "123-abc"],
  limitBytes: 63,
  unit: "bytes",
};
const labelValue: Pattern = {
  message:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  format: `(${qualifiedFormat})?`,
  examples: ["MyValue", "my_value", "12345"],
  limitBytes: 63,
  unit: "bytes",
};
const configMapKey: Pattern = {
  message: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  format: "[-._a-zA-Z0-9]+",
  examples: ["key.name", "KEY_NAME", "key-name"],
  limitBytes: 253,
  unit: "characters",
};

export const dnsSubdomain: TextRule = (value) => [...tooLong(value, subdomain), ...mismatch(value, subdomain)];

export const dnsLabel: TextRule = (value) => {
  if (mismatch(value, label).length > 0 && mismatch(value, subdomain).length === 0) {
    return [...tooLong(value, label), "must not contain dots"];
  }
  return [...tooLong(value, label), ...mismatch(value, label)];
};

export const isLabelValue: TextRule = (value) => [...tooLong(value, labelValue), ...mismatch(value, labelValue)];

export const isConfigMapKey: TextRule = (value) => {
  const complaints = [...tooLong(value, configMapKey), ...mismatch(value, configMapKey)];
  if (value === "." || value === "..") return [...complaints, `must not be '${value}'`];
  return value.startsWith("..") ? [...complaints, "must not start with '..'"] : complaints;
};

/** `[prefix/]name`: keys of labels and annotations, finalizers, load balancer classes. */
export const qualifiedName: TextRule = (value) => {
  const parts = value.split("/");
  if (parts.length > 2) {
    const expected = regexError(labelKeyName);
    return [`a valid label key ${expected} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const complaints: string[] = [];
  if (prefix === "") complaints.push("prefix part must be non-empty");
  else if (prefix !== undefined)
    complaints.push(...dnsSubdomain(prefix).map((complaint) => `prefix part ${complaint}`));
  if (name === "") complaints.push("name part must be non-empty");
  else complaints.push(...tooLong(name, labelKeyName).map((complaint) => `name part ${complaint}`));
  return [...complaints, ...mismatch(name, labelKeyName).map((complaint) => `name part ${complaint}`)];
};

/** A service port's name as a target: at least a letter, at most 15 characters. */
export const portName: TextRule = (value) => {
  const complaints: string[] = [];
  if (value.length > 15) complaints.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(value)) {
    complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(value)) complaints.push("must contain at least one letter (a-z)");
  if (value.includes("--")) complaints.push("must not contain consecutive hyphens");
  if (/^-|-$/.test(value)) complaints.push("must not begin or end with a hyphen");
  return complaints;
};

/** Names that may be a segment of a URL; used where a kind has no stricter rule. */
export const pathSegment: TextRule = (value) => {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((illegal) => value.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
};

/** A port number. */
export function portNumber(value: number): readonly string[] {
  return value >= 1 && value <= 65_535 ? [] : ["must be between 1 and 65535, inclusive"];
}

function tooLong(value: string, pattern: Pattern): readonly string[] {
  return Buffer.byteLength(value) > pattern.limitBytes
    ? [`must be no more than ${pattern.limitBytes} ${pattern.unit}`]
    : [];
}

function mismatch(value: string, pattern: Pattern): readonly string[] {
  return new RegExp(`^(?:${pattern.format})$`).test(value) ? [] : [regexError(pattern)];
}

function regexError(pattern: Pattern): string {
  const examples = pattern.examples.map((example) => `'${example}', `).join(" or ");
  return `${pattern.message} (e.g. ${examples}regex used for validation is '${pattern.format}')`;
}
