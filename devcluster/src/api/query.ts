import { badRequest, invalid, unclassified } from "../api-error.ts";
import type { FieldError } from "../validation/field-error.ts";
import { forbiddenField, notSupported } from "../validation/field-error.ts";

/** What a list or watch request says in its query. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continueToken: string;
  readonly sendInitialEvents: boolean | undefined;
}

/** Reads list options; throws ApiError 400 or 422 (upstream apimachinery ValidateListOptions). */
export function parseListOptions(query: URLSearchParams, isWatch: boolean): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    watch: isWatch || parseFlag(query.get("watch")) === true,
    allowWatchBookmarks: parseFlag(query.get("allowWatchBookmarks")) ?? false,
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    timeoutSeconds: parseInteger(query.get("timeoutSeconds")),
    limit: parseInteger(query.get("limit")) ?? 0,
    continueToken: query.get("continue") ?? "",
    sendInitialEvents: parseFlag(query.get("sendInitialEvents")),
  };
  const errors = options.watch ? checkWatch(options) : checkList(options);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
  return options;
}

/** A resource version as a number; throws ApiError as the real server does for a get or watch (500) or for a list (400). */
export function parseResourceVersion(text: string, use: "list" | "other"): number {
  if (/^\d+$/.test(text)) return Number(text);
  const why = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw use === "list" ? badRequest(`invalid resource version: ${why}`) : unclassified(why);
}

/** What a write says in its query. */
export interface WriteQuery {
  readonly dryRun: boolean;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
}

/** Reads the options of a create, update or patch; throws ApiError 422. */
export function parseWriteQuery(query: URLSearchParams, kind: string): WriteQuery {
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors: FieldError[] = [...checkDryRun(query)];
  const known = ["Ignore", "Strict", "Warn"] as const;
  const directive = known.find((word) => word === fieldValidation);
  if (directive === undefined && fieldValidation !== "") {
    errors.push(notSupported("fieldValidation", fieldValidation, ["", ...known]));
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", errors);
  return { dryRun: query.has("dryRun"), fieldValidation: directive ?? "Warn" };
}

/** What is wrong with `dryRun`, of which the only value is All. */
export function checkDryRun(query: URLSearchParams): readonly FieldError[] {
  const given = query.getAll("dryRun");
  return given.every((value) => value === "All") ? [] : [notSupported("dryRun", given, ["All"])];
}

/** A whole number in a query; throws ApiError 400. */
export function parseInteger(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

/** As Go clients write booleans: anything but 0 and false is true. */
function parseFlag(text: string | null): boolean | undefined {
  if (text === null) return undefined;
  return !["0", "false"].includes(text.toLowerCase());
}

const matchField = "resourceVersionMatch";

function checkList(options: ListOptions): readonly FieldError[] {
  const { resourceVersion: version, resourceVersionMatch: match } = options;
  if (options.sendInitialEvents !== undefined) {
    return [forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list")];
  }
  if (match === "") return [];
  const errors: FieldError[] = [];
  if (version === "") {
    errors.push(forbiddenField(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (options.continueToken !== "") {
    errors.push(forbiddenField(matchField, "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (match !== "Exact" && match !== "NotOlderThan") {
    errors.push(notSupported(matchField, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && version === "0") {
    errors.push(forbiddenField(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return errors;
}

function checkWatch(options: ListOptions): readonly FieldError[] {
  const { resourceVersionMatch: match } = options;
  const errors: FieldError[] = [];
  if (options.sendInitialEvents === undefined) {
    return match === ""
      ? []
      : [
          forbiddenField(
            matchField,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
          ),
        ];
  }
  if (match !== "NotOlderThan") {
    errors.push(forbiddenField(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "" && match !== "NotOlderThan") errors.push(notSupported(matchField, match, ["NotOlderThan"]));
  if (options.continueToken !== "") {
    errors.push(forbiddenField(matchField, "resourceVersionMatch is forbidden when continue is provided"));
  }
  return errors;
}
