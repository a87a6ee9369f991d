import { readFileText, type ReadText } from "../options/text-file.ts";
import type { Options } from "../app/options.ts";
import type { Problem, Setting } from "../options/flag.ts";
import { asksForTraces, readTracingEnvironment, type TracingEnvironment } from "./tracing-options.ts";
import { parseTracingFile, type TracingFile } from "./tracing-file.ts";
import { DEFAULT_ENDPOINT, type Sampling, type TracingSettings } from "./tracing-settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Without a word about sampling a file asks for none of our own traces, as in kube-apiserver; the environment for all, as OpenTelemetry has it. */
const FILE_SAMPLING: Sampling = { isParentBased: true, ratio: 0 };
const ENVIRONMENT_SAMPLING: Sampling = { isParentBased: true, ratio: 1 };

const NOTHING_SAID: TracingEnvironment = { isDisabled: false, endpoint: undefined, sampling: undefined };

/**
 * Where traces go; undefined: there are to be none. The file comes before OpenTelemetry's variables, which fill in what it leaves open.
 * Every problem is found.
 */
export function readTracing(
  { tracingConfigFile: path }: Pick<Options, "tracingConfigFile">,
  environment: Environment,
  readText: ReadText,
): Setting<TracingSettings> {
  if (path === "" && !asksForTraces(environment)) return { value: undefined, problems: [] };
  const variables = readTracingEnvironment(environment);
  const said = variables.kind === "settings" ? variables.settings : NOTHING_SAID;
  const file = path === "" ? { value: undefined, problems: [] } : readTracingFile(path, readText);
  const problems = [
    ...file.problems,
    ...(variables.kind === "invalid" ? variables.problems : []),
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
  if (reading.kind === "invalid") return { value: undefined, problems: reading.problems.map((what) => wrong(what)) };
  return { value: reading.settings, problems: [] };
}

function samplingOf(file: TracingFile | undefined): Sampling | undefined {
  const rate = file?.samplingRatePerMillion;
  return rate === undefined ? undefined : { isParentBased: true, ratio: rate / 1_000_000 };
}
