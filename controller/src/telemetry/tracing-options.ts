import { type Parsed, type Problem, problem, type Setting, stringFlag, value } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";
import { type FileKind, readFileText, readKubernetesFile, type ReadText } from "../options/text-file.ts";
import { withoutUserinfo } from "../util/text.ts";

export const tracingFlags = {
  tracingConfigFile: stringFlag({
    group: "tracing",
    valueName: "file",
    help: "kube-apiserver's TracingConfiguration: where traces go and how many; empty: as OpenTelemetry's variables OTEL_… say, none without them",
  }),
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Where traces go and which are taken. */
export interface TracingSettings {
  /** `http://host:port` in plain text, `https://host:port` over TLS. OTLP over gRPC is spoken there. */
  readonly endpoint: string;
  readonly sampling: Sampling;
}

/** Which new traces are taken. One that somebody else has begun is taken as its beginner has it, unless `isParentBased` is false. */
export interface Sampling {
  /** From 0 to 1. */
  readonly ratio: number;
  readonly isParentBased: boolean;
}

/** Where a collector on the same host listens: IANA's port of OTLP over gRPC. */
const DEFAULT_ENDPOINT = "http://localhost:4317";

/** A scheme in front, or none. */
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/** An endpoint as OTLP over gRPC takes it, or why it is none. Without a scheme it is in plain text, as upstream has it. */
export function readEndpoint(text: string): Parsed<string> {
  const shown = withoutUserinfo(text);
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? text : text.slice(scheme.length + "://".length);
  if (scheme !== undefined && !["http", "https", "dns"].includes(scheme))
    return problem(`"${shown}" begins with ${scheme}://; say host:port, http://host:port or https://host:port`);
  // gRPC's own form is dns:///host:port.
  const address = (scheme === "dns" ? rest.replace(/^\//, "") : rest).replace(/\/$/, "");
  const protocol = scheme === "https" ? "https" : "http";
  const url = URL.parse(`${protocol}://${address}`);
  if (url === null || url.hostname === "" || !isPlainAddress(url))
    return problem(`"${shown}" is not a host and a port; a path, a query or a user has no place in it`);
  if (!/:\d+$/.test(address))
    return problem(`"${shown}" names no port; a collector takes OTLP over gRPC on 4317 as a rule`);
  return value(`${protocol}://${address}`);
}

function isPlainAddress({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && [search, hash, username, password].every((part) => part === "");
}

/** Without a word about sampling a file asks for none of our own traces, as in kube-apiserver; the environment for all, as OpenTelemetry has it. */
const FILE_SAMPLING: Sampling = { isParentBased: true, ratio: 0 };
const ENVIRONMENT_SAMPLING: Sampling = { isParentBased: true, ratio: 1 };

const NO_VARIABLES: TracingEnvironment = { isDisabled: false, endpoint: undefined, sampling: undefined };

/**
 * Where traces go; undefined: there are to be none. The file comes before OpenTelemetry's variables, which fill in what it leaves open.
 * Every problem is found.
 */
export function readTracing(
  { tracingConfigFile: path }: OptionsOf<typeof tracingFlags>,
  environment: Environment,
  readText: ReadText,
): Setting<TracingSettings> {
  if (path === "" && !asksForTraces(environment)) return { value: undefined, problems: [] };
  const variables = readTracingEnvironment(environment);
  const said = variables.value ?? NO_VARIABLES;
  const file = path === "" ? { value: undefined, problems: [] } : readTracingFile(path, readText);
  const problems = [
    ...file.problems,
    ...variables.problems,
    ...(said.isDisabled ? [] : unreadableFiles(environment, readText)),
  ];
  if (problems.length > 0 || said.isDisabled) return { value: undefined, problems };
  const byDefault = path === "" ? ENVIRONMENT_SAMPLING : FILE_SAMPLING;
  return {
    value: {
      endpoint: file.value?.endpoint ?? said.endpoint ?? DEFAULT_ENDPOINT,
      sampling: samplingOf(file.value) ?? said.sampling ?? byDefault,
    },
    problems,
  };
}

/** Files that the exporter reads by itself: without one it would go on, trusting others or known to nobody. */
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
  const wrong = (what: string): Problem => ({ where: "--tracing-config-file", what: `${path}: ${what}` });
  const file = readFileText(path, readText);
  if (file.kind === "unreadable") return { value: undefined, problems: [wrong(file.what)] };
  const reading = parseTracingFile(file.text);
  return { value: reading.value, problems: reading.problems.map((what) => wrong(what)) };
}

function samplingOf(file: TracingFile | undefined): Sampling | undefined {
  const rate = file?.samplingRatePerMillion;
  return rate === undefined ? undefined : { isParentBased: true, ratio: rate / 1_000_000 };
}

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
export function parseTracingFile(text: string): Setting<TracingFile, string> {
  const { document, problems: wrongHead } = readKubernetesFile(text, FILE);
  const endpoint = readEndpointField(document?.["endpoint"]);
  const rate = readRate(document?.["samplingRatePerMillion"]);
  const problems = [...wrongHead, ...endpoint.problems, ...rate.problems];
  if (problems.length > 0) return { value: undefined, problems };
  return { value: { endpoint: endpoint.value, samplingRatePerMillion: rate.value }, problems };
}

function readEndpointField(value: unknown): Setting<string, string> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value !== "string") return { value: undefined, problems: ["endpoint: is not a text"] };
  const reading = readEndpoint(value);
  return reading.kind === "value"
    ? { value: reading.value, problems: [] }
    : { value: undefined, problems: [`endpoint: ${reading.problem}`] };
}

function readRate(value: unknown): Setting<number, string> {
  if (value === undefined || value === null) return { value: undefined, problems: [] };
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MILLION)
    return { value, problems: [] };
  const what = `samplingRatePerMillion: is ${JSON.stringify(value)}, not a whole number from 0 to ${MILLION}`;
  return { value: undefined, problems: [what] };
}

/** What OpenTelemetry's variables say; what they leave open is undefined. */
export interface TracingEnvironment {
  /** True: no traces whatever else is said. */
  readonly isDisabled: boolean;
  readonly endpoint: string | undefined;
  readonly sampling: Sampling | undefined;
}

/**
 * Reads the variables of OpenTelemetry's specification that decide whether there are traces, where they go and how many, and whether
 * headers can be sent. Certificates, time-outs and resource attributes are the library's to read.
 */
export function readTracingEnvironment(environment: Environment): Setting<TracingEnvironment> {
  const endpoint = readEndpointVariable(environment);
  const sampling = readSampling(environment);
  const problems = [
    ...protocolProblems(environment),
    ...endpoint.problems,
    ...tracingHeaderProblems(environment),
    ...sampling.problems,
  ];
  const isDisabled =
    variable(environment, "OTEL_SDK_DISABLED").text.toLowerCase() === "true" ||
    variable(environment, "OTEL_TRACES_EXPORTER").text === "none";
  if (isDisabled) return { value: { isDisabled, endpoint: undefined, sampling: undefined }, problems: [] };
  if (problems.length > 0) return { value: undefined, problems };
  return { value: { isDisabled, endpoint: endpoint.value, sampling: sampling.value }, problems };
}

/** The variables ask for traces. Others of theirs that happen to be set, for all pods say, are nobody's mistake. */
function asksForTraces(environment: Environment): boolean {
  return endpointVariable(environment).text !== "";
}

interface Variable {
  readonly name: string;
  /** "" when none of them is set: the specification takes an empty one for none. */
  readonly text: string;
}

/** The first of those names that is set. */
function variable(environment: Environment, ...names: readonly [string, ...string[]]): Variable {
  const name = names.find((candidate) => (environment[candidate] ?? "").trim() !== "") ?? names[0];
  return { name, text: (environment[name] ?? "").trim() };
}

function endpointVariable(environment: Environment): Variable {
  return variable(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
}

function readEndpointVariable(environment: Environment): Setting<string> {
  const { name, text } = endpointVariable(environment);
  if (text === "") return { value: undefined, problems: [] };
  const reading = readEndpoint(text);
  if (reading.kind === "problem") return { value: undefined, problems: [{ where: name, what: reading.problem }] };
  // Without a scheme other programs take it for TLS, and Kubernetes' own for plain text.
  if (!/^https?:/i.test(text))
    return { value: undefined, problems: [{ where: name, what: `"${text}" has to begin with http:// or https://` }] };
  return { value: reading.value, problems: [] };
}

/** gRPC is what Kubernetes' own components speak; every collector takes it. */
function protocolProblems(environment: Environment): readonly Problem[] {
  const { name, text } = variable(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  const exporter = variable(environment, "OTEL_TRACES_EXPORTER");
  return [
    ...(text === "" || text === "grpc"
      ? []
      : [{ where: name, what: `is "${text}"; only grpc is spoken, on port 4317 as a rule` }]),
    ...(["", "otlp", "none"].includes(exporter.text)
      ? []
      : [{ where: exporter.name, what: `is "${exporter.text}", neither otlp nor none` }]),
  ];
}

/** Those of the specification that need no service of their own. */
const SAMPLERS: Readonly<Record<string, { readonly isParentBased: boolean; readonly ratio: number | "argument" }>> = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: "argument" },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: "argument" },
};

function readSampling(environment: Environment): Setting<Sampling> {
  const { name, text } = variable(environment, "OTEL_TRACES_SAMPLER");
  if (text === "") return { value: undefined, problems: [] };
  const sampler = SAMPLERS[text];
  if (sampler === undefined) {
    const what = `is "${text}", not one of ${Object.keys(SAMPLERS).join(", ")}`;
    return { value: undefined, problems: [{ where: name, what }] };
  }
  const { isParentBased, ratio } = sampler;
  if (ratio !== "argument") return { value: { isParentBased, ratio }, problems: [] };
  const argument = variable(environment, "OTEL_TRACES_SAMPLER_ARG");
  const share = argument.text === "" ? 1 : Number(argument.text);
  if (share >= 0 && share <= 1) return { value: { isParentBased, ratio: share }, problems: [] };
  const what = `is "${argument.text}", not a number from 0 to 1`;
  return { value: undefined, problems: [{ where: argument.name, what }] };
}

/** Both are sent; the exporter would show a header that it cannot send whole, secrets included. */
const HEADER_VARIABLES = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] as const;

/** What gRPC sends as text (@grpc/grpc-js 1.14, metadata.ts); in -bin keys it sends bytes, for which the variables have no form. */
const HEADER_KEY = /^(?!.*-bin$)[:0-9a-z_.-]+$/;
const HEADER_TEXT = /^[ -~]*$/;

/** What is wrong with the headers that go with traces: by variable, place and key, never by value. */
export function tracingHeaderProblems(environment: Environment): readonly Problem[] {
  return HEADER_VARIABLES.flatMap((where) =>
    (environment[where] ?? "").split(",").flatMap((entry, at) => {
      const what = headerProblem(entry.trim(), `header ${at + 1}`);
      return what === undefined ? [] : [{ where, what }];
    }),
  );
}

/** Of one `key=value`, both in percent-encoding. */
function headerProblem(entry: string, header: string): string | undefined {
  if (entry === "") return undefined;
  const split = entry.indexOf("=");
  if (split < 1) return `${header} is not key=value; in a value write a comma as %2C`;
  const key = decoded(entry.slice(0, split))?.toLowerCase();
  if (key === undefined || !HEADER_KEY.test(key))
    return `${header} has no key that gRPC sends: letters, digits, dashes, dots and underscores, not ending with -bin`;
  const value = decoded(entry.slice(split + 1));
  if (value === undefined) return `${header} (${key}) has a percent sign that begins no code; write %25`;
  return HEADER_TEXT.test(value) ? undefined : `${header} (${key}) holds a line break or a character that is not ASCII`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}
