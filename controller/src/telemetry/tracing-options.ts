import type { Problem, Setting } from "../options/flag.ts";
import { tracingHeaderProblems } from "./tracing-headers.ts";
import { readEndpoint, type Sampling, type SettingsReading } from "./tracing-settings.ts";

/** What OpenTelemetry's variables say; what they leave open is undefined. */
export interface TracingEnvironment {
  /** True: no traces whatever else is said. */
  readonly isDisabled: boolean;
  readonly endpoint: string | undefined;
  readonly sampling: Sampling | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables of OpenTelemetry's specification that decide whether there are traces, where they go and how many, and whether
 * headers can be sent. Certificates, time-outs and resource attributes are the library's to read.
 */
export function readTracingEnvironment(environment: Environment): SettingsReading<TracingEnvironment, Problem> {
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
  if (isDisabled) return { kind: "settings", settings: { isDisabled, endpoint: undefined, sampling: undefined } };
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "settings", settings: { isDisabled, endpoint: endpoint.value, sampling: sampling.value } };
}

/** The variables ask for traces. Others of theirs that happen to be set, for all pods say, are nobody's mistake. */
export function asksForTraces(environment: Environment): boolean {
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
  if (reading.kind === "problem") return { value: undefined, problems: [{ where: name, what: reading.what }] };
  // Without a scheme other programs take it for TLS, and Kubernetes' own for plain text.
  if (!/^https?:/i.test(text))
    return { value: undefined, problems: [{ where: name, what: `"${text}" has to begin with http:// or https://` }] };
  return { value: reading.url, problems: [] };
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
