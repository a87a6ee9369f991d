import type { OptionTable, OptionValues } from "../../options/option.ts";
import { OUTPUT_OPTIONS } from "../../options/shared-options.ts";
import { type Expectation, parseExpectation } from "./expectation.ts";
import { TEST_ENDINGS } from "./test-file.ts";

const ADDRESS_FORMS = "unix:///PATH, or tcp://HOST:PORT";

export const REPLAY_OPTIONS: OptionTable = {
  serve: {
    type: "text",
    valueName: "address",
    help: `Serve the recording as a provider at this address: ${ADDRESS_FORMS}.`,
  },
  against: {
    type: "text",
    valueName: "address",
    help: `Replay the recording against the provider at this address: ${ADDRESS_FORMS}.`,
  },
  start: {
    type: "text",
    valueName: "command",
    help: "Replay against a provider started by this shell command. The provider must serve at CLOUD_PROVIDER_ENDPOINT and is stopped afterwards.",
  },
  "write-test": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: `With --start: write a test that replays the recording: ${TEST_ENDINGS.slice(0, 2).join(" for a shell, ")} for vitest.`,
  },
  speed: {
    type: "choice",
    valueName: "speed",
    choices: ["max", "recorded"],
    default: "max",
    help: "max keeps the recorded order of calls and responses; recorded also keeps the times.",
  },
  all: { type: "flag", help: "Continue after the first different response and report all." },
  until: { type: "number", valueName: "call", help: "Last call to replay." },
  "retry-timeout": {
    type: "duration",
    valueName: "time",
    help: "How long to retry a read while its response differs, for clouds with slow operations. Default: no retries.",
  },
  expect: {
    type: "texts",
    valueName: "call:field=json",
    help: 'Expected value in the response to a call, instead of the recorded one: 12:code="OK", 12:loadBalancer.phase="LOAD_BALANCER_PHASE_ACTIVE"; null means that the field is absent. Repeatable.',
  },
  hook: {
    type: "texts",
    valueName: "call:command",
    help: "Shell command to run before that call, to repeat a manual change in the cloud. Repeatable.",
  },
  provider: {
    type: "text",
    valueName: "name",
    help: "Provider to replay, if the recording has several.",
  },
  session: {
    type: "number",
    valueName: "number",
    help: "Session to replay, if several processes wrote the file. Default: the last.",
  },
  ...OUTPUT_OPTIONS,
};

const ONLY_PLAYED = ["all", "until", "retry-timeout", "expect", "hook"];

/** Address of a provider. */
export interface Address {
  readonly address: string;
  /** The address for @grpc/grpc-js. */
  readonly target: string;
}

export type ReplayMode =
  | ({ readonly kind: "serve" | "against" } & Address)
  | { readonly kind: "start"; readonly command: string }
  | { readonly kind: "test"; readonly command: string; readonly path: string };

export interface ReplayOptions {
  readonly file: string;
  readonly mode: ReplayMode;
  readonly expectations: readonly Expectation[];
  readonly hooks: ReadonlyMap<number, string>;
  /** Number of the last call to replay. */
  readonly until: number | undefined;
}

/** The options, or all problems with them. */
export function parseReplayOptions(
  operands: readonly string[],
  values: OptionValues,
): ReplayOptions | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const [file, ...others] = operands;
  if (file === undefined || others.length > 0)
    problems.push("replay requires one FILE, a recording of --record-provider");
  const expectations = values.texts("expect").flatMap((text) => {
    const expectation = parseExpectation(text);
    if (expectation === undefined)
      problems.push(`invalid --expect ${text}; use CALL:FIELD=JSON, with a code in quotes`);
    return expectation ?? [];
  });
  const hooks = new Map<number, string>();
  for (const text of values.texts("hook")) {
    const [, call, command] = /^(\d+):(.+)$/s.exec(text) ?? [];
    if (command === undefined) problems.push(`invalid --hook ${text}; use CALL:COMMAND`);
    else hooks.set(Number(call), command);
  }
  const mode = readMode(values, problems);
  if (problems.length > 0 || file === undefined || mode === undefined) return { problems };
  const until = values.text("until");
  return { file, mode, expectations, hooks, until: until === undefined ? undefined : Number(until) };
}

function readMode(values: OptionValues, problems: string[]): ReplayMode | undefined {
  const [serve, against, command, path] = ["serve", "against", "start", "write-test"].map((name) => values.text(name));
  if ([serve, against, command].filter((one) => one !== undefined).length !== 1) {
    problems.push("replay requires one of --serve, --against and --start");
    return undefined;
  }
  if (path !== undefined && command === undefined)
    problems.push("--write-test requires --start, because the test starts the provider");
  if (path !== undefined && !TEST_ENDINGS.some((ending) => path.endsWith(ending))) {
    problems.push(`invalid --write-test ${path}; it must end in one of ${TEST_ENDINGS.join(", ")}`);
  }
  if (serve !== undefined) {
    const misplaced = ONLY_PLAYED.filter((name) => values.texts(name).some((text) => text !== "false"));
    problems.push(...misplaced.map((name) => `--${name} cannot be combined with --serve`));
  }
  if (command !== undefined) return path === undefined ? { kind: "start", command } : { kind: "test", command, path };
  const kind = serve === undefined ? "against" : "serve";
  const address = serve ?? against ?? "";
  const target = grpcTarget(address);
  if (target === undefined) problems.push(`invalid --${kind} ${address}; use ${ADDRESS_FORMS}`);
  return { kind, address, target: target ?? "" };
}

/** The address for @grpc/grpc-js; undefined: invalid. */
function grpcTarget(address: string): string | undefined {
  const [, path] = /^unix:\/\/(\/.+)$/.exec(address) ?? [];
  if (path !== undefined) return `unix://${path}`;
  const [, host] = /^tcp:\/\/((?:\[[^\]]+\]|[^:/[\]]+):\d{1,5})$/.exec(address) ?? [];
  return host;
}
