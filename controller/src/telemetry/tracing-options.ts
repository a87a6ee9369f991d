import { type Parsed, type Problem, problem, type Setting, stringFlag, value } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";
import { type FileKind, readFileText, readKubernetesFile, type ReadText } from "../options/text-file.ts";
import { withoutUserinfo } from "../util/text.ts";

export const tracingFlags = {
  tracingConfigFile: stringFlag({
    group: "tracing",
    valueName: "file",
    help: "file with kube-apiserver's TracingConfiguration: the endpoint and the sampling rate of traces; empty: OpenTelemetry's OTEL_… variables decide",
  }),
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

export interface TracingSettings {
  /** `http://host:port` in plain text, `https://host:port` over TLS. The protocol is OTLP over gRPC. */
  readonly endpoint: string;
  readonly sampling: Sampling;
}

export interface Sampling {
  /** Share of new traces that are exported, from 0 to 1. */
  readonly ratio: number;
  /** A trace that another process started is exported if that process exports it. */
  readonly isParentBased: boolean;
}

/** IANA's port of OTLP over gRPC. */
const DEFAULT_ENDPOINT = "http://localhost:4317";
const MILLION = 1_000_000;

/** An endpoint of OTLP over gRPC. Without a scheme it is in plain text, as in upstream. */
export function readEndpoint(text: string): Parsed<string> {
  const shown = withoutUserinfo(text);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? text : text.slice(scheme.length + "://".length);
  if (scheme !== undefined && !["http", "https", "dns"].includes(scheme))
    return problem(`"${shown}" begins with ${scheme}://; use host:port, http://host:port or https://host:port`);
  // gRPC's own form is dns:///host:port.
  const address = (scheme === "dns" ? rest.replace(/^\//, "") : rest).replace(/\/$/, "");
  const protocol = scheme === "https" ? "https" : "http";
  const url = URL.parse(`${protocol}://${address}`);
  if (url === null || url.hostname === "" || !isPlainAddress(url))
    return problem(`"${shown}" is not a host and a port; a path, a query or a user is not supported`);
  if (!/:\d+$/.test(address))
    return problem(`"${shown}" has no port; the usual port of a collector for OTLP over gRPC is 4317`);
  return value(`${protocol}://${address}`);
}

function isPlainAddress({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && [search, hash, username, password].every((part) => part === "");
}

function unset<Value, Wrong>(...problems: readonly Wrong[]): Setting<Value, Wrong> {
  return { value: undefined, problems };
}

/** Without sampling settings a file starts no traces, as in kube-apiserver, and the environment all, as in OpenTelemetry. */
const FILE_SAMPLING: Sampling = { isParentBased: true, ratio: 0 };
const ENVIRONMENT_SAMPLING: Sampling = { isParentBased: true, ratio: 1 };

/** undefined: tracing is off. The file takes precedence over the variables, which fill in what it leaves open. */
export function readTracing(
  { tracingConfigFile: path }: OptionsOf<typeof tracingFlags>,
  environment: Environment,
  readText: ReadText,
): Setting<TracingSettings> {
  // Variables other than the endpoint may be set for all pods.
  if (path === "" && endpointVariable(environment).text === "") return unset();
  const variables = readTracingEnvironment(environment);
  const { isDisabled = false, endpoint, sampling } = variables.value ?? {};
  const file: Setting<TracingFile> = path === "" ? unset() : readTracingFile(path, readText);
  const unreadable = isDisabled ? [] : unreadableFiles(environment, readText);
  const problems = [...file.problems, ...variables.problems, ...unreadable];
  if (problems.length > 0 || isDisabled) return unset(...problems);
  const fallback = sampling ?? (path === "" ? ENVIRONMENT_SAMPLING : FILE_SAMPLING);
  return { value: settingsOf(file.value, endpoint, fallback), problems };
}

function settingsOf(file: TracingFile | undefined, endpoint = DEFAULT_ENDPOINT, fallback: Sampling): TracingSettings {
  const rate = file?.samplingRatePerMillion;
  const sampling = rate === undefined ? fallback : { isParentBased: true, ratio: rate / MILLION };
  return { endpoint: file?.endpoint ?? endpoint, sampling };
}

/** Files that the exporter reads itself: without one it would use the system's CAs, or no client certificate. */
const FILE_VARIABLES: readonly string[] = ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].flatMap((what) => [
  `OTEL_EXPORTER_OTLP_${what}`,
  `OTEL_EXPORTER_OTLP_TRACES_${what}`,
]);

function unreadableFiles(environment: Environment, readText: ReadText): readonly Problem[] {
  return FILE_VARIABLES.flatMap((where) => {
    const path = environment[where]?.trim() ?? "";
    if (path === "") return [];
    const file = readFileText(path, readText);
    return file.kind === "text" ? [] : [{ where, what: file.what }];
  });
}

function readTracingFile(path: string, readText: ReadText): Setting<TracingFile> {
  const file = readFileText(path, readText);
  const read = file.kind === "unreadable" ? unset<TracingFile, string>(file.what) : parseTracingFile(file.text);
  const problems = read.problems.map((what) => ({ where: "--tracing-config-file", what: `${path}: ${what}` }));
  return { value: read.value, problems };
}

/** undefined: left open. */
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

/** The file of kube-apiserver's flag of the same name (component-base/tracing/api/v1 v0.36.3). Reports all problems. */
export function parseTracingFile(text: string): Setting<TracingFile, string> {
  const { document, problems: wrongHead } = readKubernetesFile(text, FILE);
  const endpoint = readEndpointField(document?.["endpoint"]);
  const rate = readRate(document?.["samplingRatePerMillion"]);
  const problems = [...wrongHead, ...endpoint.problems, ...rate.problems];
  if (problems.length > 0) return unset(...problems);
  return { value: { endpoint: endpoint.value, samplingRatePerMillion: rate.value }, problems };
}

function readEndpointField(value: unknown): Setting<string, string> {
  if (value === undefined || value === null) return unset();
  if (typeof value !== "string") return unset("endpoint: is not a string");
  const reading = readEndpoint(value);
  return reading.kind === "value" ? { value: reading.value, problems: [] } : unset(`endpoint: ${reading.problem}`);
}

function readRate(value: unknown): Setting<number, string> {
  if (value === undefined || value === null) return unset();
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MILLION)
    return { value, problems: [] };
  return unset(`samplingRatePerMillion: is ${JSON.stringify(value)}, not a whole number from 0 to ${MILLION}`);
}

/** undefined: left open. */
export interface TracingEnvironment {
  /** Takes precedence over all other settings. */
  readonly isDisabled: boolean;
  readonly endpoint: string | undefined;
  readonly sampling: Sampling | undefined;
}

/**
 * Reads the variables of OpenTelemetry's specification for the endpoint, the sampling and the headers of traces. The library reads those for
 * certificates, timeouts and resource attributes.
 */
export function readTracingEnvironment(environment: Environment): Setting<TracingEnvironment> {
  const endpoint = readEndpointVariable(environment);
  const sampling = readSampling(environment);
  const isDisabled =
    variable(environment, "OTEL_SDK_DISABLED").text.toLowerCase() === "true" ||
    variable(environment, "OTEL_TRACES_EXPORTER").text === "none";
  if (isDisabled) return { value: { isDisabled, endpoint: undefined, sampling: undefined }, problems: [] };
  const problems = [
    ...protocolProblems(environment),
    ...endpoint.problems,
    ...tracingHeaderProblems(environment),
    ...sampling.problems,
  ];
  if (problems.length > 0) return unset(...problems);
  return { value: { isDisabled, endpoint: endpoint.value, sampling: sampling.value }, problems };
}

interface Variable {
  readonly name: string;
  /** "": unset; the specification treats an empty variable the same. */
  readonly text: string;
}

/** The first variable that is set. */
function variable(environment: Environment, ...names: readonly [string, ...string[]]): Variable {
  const name = names.find((candidate) => (environment[candidate] ?? "").trim() !== "") ?? names[0];
  return { name, text: (environment[name] ?? "").trim() };
}

function endpointVariable(environment: Environment): Variable {
  return variable(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
}

function readEndpointVariable(environment: Environment): Setting<string> {
  const { name: where, text } = endpointVariable(environment);
  if (text === "") return unset();
  const reading = readEndpoint(text);
  if (reading.kind === "problem") return unset({ where, what: reading.problem });
  // Without a scheme other programs use TLS, and those of Kubernetes plain text.
  if (!/^https?:/i.test(text)) return unset({ where, what: `"${text}" does not begin with http:// or https://` });
  return { value: reading.value, problems: [] };
}

function protocolProblems(environment: Environment): readonly Problem[] {
  const protocol = variable(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  const exporter = variable(environment, "OTEL_TRACES_EXPORTER");
  return [
    ...(["", "grpc"].includes(protocol.text)
      ? []
      : [{ where: protocol.name, what: `is "${protocol.text}"; only grpc is supported, usually on port 4317` }]),
    ...(["", "otlp", "none"].includes(exporter.text)
      ? []
      : [{ where: exporter.name, what: `is "${exporter.text}", neither otlp nor none` }]),
  ];
}

/** The samplers of the specification that need no external service; ratio undefined: from the argument. */
const SAMPLERS: Readonly<Record<string, { readonly isParentBased: boolean; readonly ratio?: number }>> = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true },
};

function readSampling(environment: Environment): Setting<Sampling> {
  const { name: where, text } = variable(environment, "OTEL_TRACES_SAMPLER");
  if (text === "") return unset();
  const sampler = SAMPLERS[text];
  if (sampler === undefined)
    return unset({ where, what: `is "${text}", not one of ${Object.keys(SAMPLERS).join(", ")}` });
  const argument = variable(environment, "OTEL_TRACES_SAMPLER_ARG");
  const ratio = sampler.ratio ?? (argument.text === "" ? 1 : Number(argument.text));
  if (ratio >= 0 && ratio <= 1) return { value: { isParentBased: sampler.isParentBased, ratio }, problems: [] };
  return unset({ where: argument.name, what: `is "${argument.text}", not a number from 0 to 1` });
}

/** The headers of both are sent. The exporter would log a header that it cannot send, secrets included. */
const HEADER_VARIABLES = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] as const;

/** gRPC sends these as text (@grpc/grpc-js 1.14, metadata.ts). The variables cannot hold the bytes of -bin keys. */
const HEADER_KEY = /^(?!.*-bin$)[:0-9a-z_.-]+$/;
const HEADER_TEXT = /^[ -~]*$/;

/** Names variable, position and key, never a value. */
export function tracingHeaderProblems(environment: Environment): readonly Problem[] {
  return HEADER_VARIABLES.flatMap((where) =>
    (environment[where] ?? "").split(",").flatMap((entry, at) => {
      const what = headerProblem(entry.trim(), `header ${at + 1}`);
      return what === undefined ? [] : [{ where, what }];
    }),
  );
}

/** Of one `key=value`, both percent-encoded. */
function headerProblem(entry: string, header: string): string | undefined {
  if (entry === "") return undefined;
  const split = entry.indexOf("=");
  if (split < 1) return `${header} is not key=value; in a value write a comma as %2C`;
  const key = decoded(entry.slice(0, split))?.toLowerCase();
  if (key === undefined || !HEADER_KEY.test(key))
    return `${header} has no key that gRPC sends: letters, digits, dashes, dots and underscores, not ending with -bin`;
  const value = decoded(entry.slice(split + 1));
  if (value === undefined) return `${header} (${key}) has a percent sign without a code; write %25`;
  return HEADER_TEXT.test(value) ? undefined : `${header} (${key}) holds a line break or a character that is not ASCII`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
