/** Tables that programs need from the options of the contract, as TypeScript source. */
import {
  createFileRegistry,
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

export const packageName = "cloudprovider.v1";
export const banner = "// Generated from the .proto files by `npm run gen`. Do not edit.\n";

export const readRegistry = (bytes: Uint8Array): FileRegistry =>
  createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));

/** The options of extension `name` of the contract on a field, enum value or method; empty without any. */
export const optionsOf = (
  registry: FileRegistry,
  name: "rules" | "reason" | "method",
  target: DescField | DescEnumValue | DescMethod,
): Record<string, unknown> => {
  const extension = registry.getExtension(`${packageName}.${name}`);
  if (!extension) throw new Error(`extension ${name} is not in the descriptor set`);
  return hasOption(target, extension) ? toPlain(getOption(target, extension)) : {};
};

/** Message name to proto field name to rules, for every field of the contract's own messages. */
export const ruleTable = (registry: FileRegistry): string => {
  const rows = [...registry]
    .filter((type) => type.kind === "message")
    .filter((message) => message.file.proto.package === packageName)
    .map(
      (message) =>
        [
          message.typeName,
          message.fields.map((field) => fieldRow(field, optionsOf(registry, "rules", field))),
        ] as const,
    )
    .toSorted(([left], [right]) => left.localeCompare(right));
  const body = rows.map(
    ([name, fields]) => `  ${JSON.stringify(name)}: [\n${fields.map((row) => `    ${row},\n`).join("")}  ],\n`,
  );
  return `${banner}
/** Rules of one field of a message. Limits are absent where there is none. */
export interface FieldRule {
  readonly number: number;
  readonly name: string;
  readonly jsonName: string;
  /** The oneof that the field belongs to, in TypeScript spelling. */
  readonly oneof?: string;
  readonly kind: "scalar" | "message" | "enum" | "list" | "map";
  /** Message type of the field, or of the items of a list or the values of a map. */
  readonly message?: string;
  readonly required?: boolean;
  readonly maxBytes?: number;
  readonly maxItems?: number;
  readonly maxTotalBytes?: number;
  readonly format?: "IP" | "CIDR" | "DNS_NAME" | "PROVIDER_ID";
  readonly sensitive?: boolean;
  /** In a response, the time is not later than the present, apart from differences between clocks. */
  readonly past?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export const fieldRules: Readonly<Record<string, readonly FieldRule[]>> = {
${body.join("")}};
`;
};

const toPlain = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const formats = [undefined, "IP", "CIDR", "DNS_NAME", "PROVIDER_ID"] as const;

const fieldRow = (field: DescField, rules: Record<string, unknown>): string => {
  const message = field.message?.typeName;
  const row = {
    number: field.number,
    name: field.name,
    jsonName: field.localName,
    ...(field.oneof && !field.proto.proto3Optional ? { oneof: field.oneof.localName } : {}),
    kind: field.fieldKind,
    ...(message ? { message } : {}),
    ...(rules["required"] === true ? { required: true } : {}),
    ...positive("maxBytes", rules["maxBytes"]),
    ...positive("maxItems", rules["maxItems"]),
    ...positive("maxTotalBytes", rules["maxTotalBytes"]),
    ...(typeof rules["format"] === "number" && formats[rules["format"]] ? { format: formats[rules["format"]] } : {}),
    ...(rules["sensitive"] === true ? { sensitive: true } : {}),
    ...(rules["past"] === true ? { past: true } : {}),
    ...(typeof rules["min"] === "bigint" ? { min: Number(rules["min"]) } : {}),
    ...(typeof rules["max"] === "bigint" ? { max: Number(rules["max"]) } : {}),
  };
  return JSON.stringify(row);
};

const positive = (key: string, value: unknown) => (typeof value === "number" && value > 0 ? { [key]: value } : {});

/** Reason name to code, class and requirements. */
export const reasonTable = (registry: FileRegistry): string => {
  const reasons = registry.getEnum(`${packageName}.ErrorReason`);
  const classes = registry.getEnum(`${packageName}.ErrorClass`);
  if (!reasons || !classes) throw new Error("ErrorReason or ErrorClass is not in the descriptor set");
  const rows = reasons.values
    .filter((value) => value.number !== 0)
    .map((value) => {
      const rules = optionsOf(registry, "reason", value);
      const name = value.name.replace(/^ERROR_REASON_/, "");
      const row = {
        code: rules["code"],
        class: className(classes, rules["errorClass"]),
        ...(rules["retryInfoRequired"] === true ? { retryInfoRequired: true } : {}),
        ...(rules["itemOnly"] === true ? { itemOnly: true } : {}),
      };
      return `  ${name}: ${JSON.stringify(row)},\n`;
    });
  return `${banner}
/** What the caller does after an error. README.md has the shorthand letters U, T, W, F, O, R. */
export type ErrorClass = "OUTCOME_UNKNOWN" | "TRANSIENT" | "WAIT" | "FINAL" | "OPERATOR" | "RESYNC";

/** Rules of one error reason. */
export interface ReasonRule {
  /** Canonical gRPC code that goes with the reason. */
  readonly code: number;
  readonly class: ErrorClass;
  /** The error must contain RetryInfo. */
  readonly retryInfoRequired?: boolean;
  /** Only occurs as the error of an item in an OK response. */
  readonly itemOnly?: boolean;
}

/** \`google.rpc.ErrorInfo.domain\` of the reasons below. */
export const errorDomain = ${JSON.stringify(packageName)};

/** The closed list of reasons, by the name that travels on the wire. */
export const errorReasons = {
${rows.join("")}} as const satisfies Readonly<Record<string, ReasonRule>>;

export type ErrorReason = keyof typeof errorReasons;
`;
};

const className = (classes: DescEnum, number: unknown): string => {
  const value = classes.values.find((candidate) => candidate.number === number);
  if (!value || value.number === 0) throw new Error(`error class ${String(number)} is not known`);
  return value.name.replace(/^ERROR_CLASS_/, "");
};
