import { type FileKind, readKubernetesFile } from "../options/text-file.ts";
import type { Setting } from "../options/flag.ts";
import { readEndpoint, type SettingsReading } from "./tracing-settings.ts";

/** What such a file says; what it leaves open is undefined. */
export interface TracingFile {
  readonly endpoint: string | undefined;
  /** Of a million new traces. */
  readonly samplingRatePerMillion: number | undefined;
}

const FILE: FileKind = {
  kind: "TracingConfiguration",
  group: "apiserver.config.k8s.io",
  fields: new Set(["endpoint", "samplingRatePerMillion"]),
};

const MILLION = 1_000_000;

/**
 * Reads the file that kube-apiserver takes by the same flag (component-base/tracing/api/v1 v0.36.3). Every problem is found; nothing unknown is
 * passed over.
 */
export function parseTracingFile(text: string): SettingsReading<TracingFile, string> {
  const { document, problems: wrongHead } = readKubernetesFile(text, FILE);
  const endpoint = readEndpointField(document?.["endpoint"]);
  const rate = readRate(document?.["samplingRatePerMillion"]);
  const problems = [...wrongHead, ...endpoint.problems, ...rate.problems];
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "settings", settings: { endpoint: endpoint.value, samplingRatePerMillion: rate.value } };
}

function readEndpointField(value: unknown): Setting<string, string> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value !== "string") return { value: undefined, problems: ["endpoint: is not a text"] };
  const reading = readEndpoint(value);
  return reading.kind === "endpoint"
    ? { value: reading.url, problems: [] }
    : { value: undefined, problems: [`endpoint: ${reading.what}`] };
}

function readRate(value: unknown): Setting<number, string> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MILLION)
    return { value, problems: [] };
  const what = `samplingRatePerMillion: is ${JSON.stringify(value)}, not a whole number from 0 to ${MILLION}`;
  return { value: undefined, problems: [what] };
}
