import { parse } from "yaml";
import { messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";
import { readEndpoint, type SettingsReading } from "./tracing-settings.ts";

/** What such a file says; what it leaves open is undefined. */
export interface TracingFile {
  readonly endpoint: string | undefined;
  /** Of a million new traces. */
  readonly samplingRatePerMillion: number | undefined;
}

const KIND = "TracingConfiguration";
const GROUP = "apiserver.config.k8s.io";
const VERSIONS: readonly string[] = ["v1", "v1beta1", "v1alpha1"].map((version) => `${GROUP}/${version}`);
const FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind", "endpoint", "samplingRatePerMillion"]);

const MILLION = 1_000_000;

/**
 * Reads the file that kube-apiserver takes by the same flag (component-base/tracing/api/v1 v0.36.3). Every problem is found; nothing unknown is
 * passed over.
 */
export function parseTracingFile(text: string): SettingsReading<TracingFile> {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    return { kind: "invalid", problems: [messageOf(error)] };
  }
  if (!isRecord(document)) return { kind: "invalid", problems: [`holds no ${KIND}`] };
  const { apiVersion, kind, endpoint, samplingRatePerMillion } = document;
  const where = readEndpointField(endpoint);
  const rate = readRate(samplingRatePerMillion);
  const problems = [
    ...Object.keys(document)
      .filter((field) => !FIELDS.has(field))
      .map((field) => `${field}: is not a field of ${KIND}`),
    ...(kind === KIND ? [] : [`kind: is "${String(kind)}", not ${KIND}`]),
    ...(VERSIONS.includes(String(apiVersion))
      ? []
      : [`apiVersion: is "${String(apiVersion)}", not one of ${VERSIONS.join(", ")}`]),
    ...where.problems,
    ...rate.problems,
  ];
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "settings", settings: { endpoint: where.value, samplingRatePerMillion: rate.value } };
}

interface Field<Value> {
  readonly value: Value | undefined;
  readonly problems: readonly string[];
}

function readEndpointField(value: unknown): Field<string> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value !== "string") return { value: undefined, problems: ["endpoint: is not a text"] };
  const reading = readEndpoint(value);
  return reading.kind === "endpoint"
    ? { value: reading.url, problems: [] }
    : { value: undefined, problems: [`endpoint: ${reading.what}`] };
}

function readRate(value: unknown): Field<number> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MILLION)
    return { value, problems: [] };
  const what = `samplingRatePerMillion: is ${JSON.stringify(value)}, not a whole number from 0 to ${MILLION}`;
  return { value: undefined, problems: [what] };
}
