/** What the options of each RPC say, as TypeScript source and as tables of the specification. */
import type { DescMethod, FileRegistry } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { banner, optionsOf, packageName } from "./tables.ts";

/** Reasons with which every RPC may fail: the request, the process or a bug, never the cloud. */
const commonReasons = [
  "FIELD_MISSING",
  "FIELD_INVALID",
  "FIELD_TOO_LARGE",
  "SCOPE_MISMATCH",
  "TOO_MANY_CALLS",
  "CAPABILITY_ABSENT",
  "UNMAPPED_ERROR",
  "INVARIANT_BROKEN",
  "DEADLINE_PASSED",
  "PROVIDER_STARTING",
  "PROVIDER_DRAINING",
  "PEER_REFUSED",
] as const;

/** Reasons with which every RPC that calls the cloud may fail. */
const cloudReasons = [
  "CLOUD_PERMISSION_DENIED",
  "RATE_LIMITED",
  "CLOUD_UNAVAILABLE",
  "CLOUD_TIMEOUT",
  "ZONE_UNREACHABLE",
  "INCOMPLETE_ANSWER",
  "CLOUD_CREDENTIALS_INVALID",
  "CLOUD_SETUP_INVALID",
] as const;

interface MethodRow {
  readonly name: string;
  readonly capability: string;
  readonly deadlineMs: number;
  readonly softReturnMs: number;
  readonly callsCloud: boolean;
  readonly change: boolean;
  readonly stream: boolean;
  readonly ownReasons: readonly string[];
  readonly itemReasons: readonly string[];
}

export const readMethods = (registry: FileRegistry): readonly MethodRow[] => {
  const service = registry.getService(`${packageName}.CloudProvider`);
  if (!service) throw new Error("service CloudProvider is not in the descriptor set");
  return service.methods.map((method) => methodRow(registry, method));
};

const methodRow = (registry: FileRegistry, method: DescMethod): MethodRow => {
  const rules = optionsOf(registry, "method", method);
  return {
    name: method.name,
    capability: typeof rules["capability"] === "string" ? rules["capability"] : "",
    deadlineMs: Number(rules["deadlineSeconds"] ?? 0) * 1000,
    softReturnMs: Number(rules["softReturnMilliseconds"] ?? 0),
    callsCloud: rules["callsCloud"] === true,
    change: method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
    stream: method.methodKind === "server_streaming",
    ownReasons: textsOf(rules["reasons"]),
    itemReasons: textsOf(rules["itemReasons"]),
  };
};

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** Every reason with which the RPC may fail. */
const allReasons = (row: MethodRow): readonly string[] => [
  ...commonReasons,
  ...(row.callsCloud ? cloudReasons : []),
  ...row.ownReasons,
];

/** Every reason of an item in its response; none for RPCs without items. */
const allItemReasons = (row: MethodRow, own: readonly string[]): readonly string[] =>
  own.length === 0 ? [] : [...commonReasons, ...cloudReasons, ...own];

export const methodTable = (registry: FileRegistry): string => {
  const rows = readMethods(registry).map((row) => {
    const { name, ownReasons: _, itemReasons, ...rules } = row;
    return `  ${name}: ${JSON.stringify({ ...rules, reasons: allReasons(row), itemReasons: allItemReasons(row, itemReasons) })},\n`;
  });
  return `${banner}
import type { ErrorReason } from "./reasons.ts";

/** Rules of one RPC. */
export interface MethodRule {
  /** Path within Capabilities that claims the RPC; empty: mandatory. */
  readonly capability: string;
  /** Default deadline of callers. 0: none, a stream. */
  readonly deadlineMs: number;
  /** Time in which the provider normally responds. */
  readonly softReturnMs: number;
  readonly callsCloud: boolean;
  /** The RPC may change the cloud or the provider's state. */
  readonly change: boolean;
  readonly stream: boolean;
  /** The only reasons with which the RPC may fail. */
  readonly reasons: readonly ErrorReason[];
  /** The only reasons of items in its response. */
  readonly itemReasons: readonly ErrorReason[];
}

export const methodRules = {
${rows.join("")}} as const satisfies Readonly<Record<string, MethodRule>>;

export type MethodName = keyof typeof methodRules;
`;
};

const code = (text: string) => `\`${text}\``;

/** The overview and the per-RPC error tables of the specification, in Markdown. */
export const methodMarkdown = (registry: FileRegistry): string => {
  const rows = readMethods(registry);
  const overview = rows.map(
    (row) =>
      `| ${code(row.name)} | ${row.capability === "" ? "mandatory" : code(row.capability)} | ${kindOf(row)} | ${row.deadlineMs === 0 ? "none" : `${row.deadlineMs / 1000} s`} | ${row.softReturnMs} ms |`,
  );
  const errors = rows.map(
    (row) =>
      `| ${code(row.name)} | common${row.callsCloud ? ", cloud" : ""} | ${row.ownReasons.map(code).join(" ") || "none"} | ${row.itemReasons.map(code).join(" ") || "none"} |`,
  );
  return [
    "| RPC | capability | kind | default deadline | responds within |",
    "| --- | --- | --- | --- | --- |",
    ...overview,
    "",
    `Common reasons, with which any RPC may fail: ${commonReasons.map(code).join(" ")}.`,
    "",
    `Cloud reasons, with which any RPC that calls the cloud may fail: ${cloudReasons.map(code).join(" ")}.`,
    "",
    "| RPC | groups | its own reasons | reasons of items |",
    "| --- | --- | --- | --- |",
    ...errors,
  ].join("\n");
};

const kindOf = (row: MethodRow) => (row.stream ? "read, stream" : row.change ? "change" : "read");
