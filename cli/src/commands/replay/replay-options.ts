import type { OptionTable, OptionValues } from "../../options/option.ts";
import { OUTPUT_OPTIONS } from "../../options/shared-options.ts";
import { type Expectation, parseExpectation } from "./expectation.ts";
import { TEST_ENDINGS } from "./test-file.ts";

/** For messages. */
const ADDRESS_FORMS = "unix:///PATH, or tcp://HOST:PORT";

export const REPLAY_OPTIONS: OptionTable = {
  serve: { type: "text", valueName: "address", help: `Serves the recording as a provider there: ${ADDRESS_FORMS}.` },
  against: {
    type: "text",
    valueName: "address",
    help: `Plays the recording against the provider there: ${ADDRESS_FORMS}.`,
  },
  start: {
    type: "text",
    valueName: "command",
    help: "Plays it against a provider that this command of a shell starts, which serves where CLOUD_PROVIDER_ENDPOINT says, and which is ended afterwards.",
  },
  "to-test": {
    type: "text",
    valueName: "file",
    completes: "files",
    help: `With --start: plays nothing, and writes a test that does: ${TEST_ENDINGS.slice(0, 2).join(" for a shell, ")} for vitest.`,
  },
  speed: {
    type: "choice",
    valueName: "speed",
    choices: ["max", "recorded"],
    default: "max",
    help: "max waits for nothing but the answers that had come before a call was made; recorded keeps the times as well.",
  },
  all: { type: "flag", help: "Goes on after the first call that is answered otherwise, and tells of all of them." },
  until: { type: "number", valueName: "call", help: "The last call that is played." },
  patience: {
    type: "duration",
    valueName: "time",
    help: "How long a read is asked again while it is answered otherwise, for clouds that take their time. Default: not at all.",
  },
  expect: {
    type: "texts",
    valueName: "call:field=json",
    help: 'What the answer to a call has to be, in place of what was recorded: 12:code="OK", 12:loadBalancer.phase="LOAD_BALANCER_PHASE_ACTIVE"; null: the field is not there. May be given several times.',
  },
  before: {
    type: "texts",
    valueName: "call:command",
    help: "A command of a shell that is run before that call, for what somebody did at the cloud at that time. May be given several times.",
  },
  "recorded-provider": {
    type: "text",
    valueName: "name",
    help: "Whose calls, where the recording is of several providers.",
  },
  session: {
    type: "number",
    valueName: "number",
    help: "Which recording of a file that several processes have written. Default: the last.",
  },
  ...OUTPUT_OPTIONS,
};

const ONLY_PLAYED = ["all", "until", "patience", "expect", "before"];

/** Where a provider is, or has to be. */
export interface Address {
  readonly address: string;
  /** Of @grpc/grpc-js. */
  readonly target: string;
}

/** What is to be done. */
export type ReplayMode =
  | ({ readonly kind: "serve" | "against" } & Address)
  | { readonly kind: "start"; readonly command: string }
  | { readonly kind: "test"; readonly command: string; readonly path: string };

export interface ReplayWish {
  readonly file: string;
  readonly mode: ReplayMode;
  readonly expectations: readonly Expectation[];
  readonly before: ReadonlyMap<number, string>;
  /** Number of the last call that is played. */
  readonly until: number | undefined;
}

/** What the command line asks for, or all that is wrong with it. */
export function readWish(
  operands: readonly string[],
  values: OptionValues,
): ReplayWish | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const [file, ...others] = operands;
  if (file === undefined || others.length > 0) problems.push("replay needs one FILE, a recording of --record-provider");
  const expectations = values.texts("expect").flatMap((text) => {
    const expectation = parseExpectation(text);
    if (expectation === undefined) problems.push(`--expect is ${text}; it is CALL:FIELD=JSON, with a code in quotes`);
    return expectation ?? [];
  });
  const before = new Map<number, string>();
  for (const text of values.texts("before")) {
    const [, call, command] = /^(\d+):(.+)$/s.exec(text) ?? [];
    if (command === undefined) problems.push(`--before is ${text}; it is CALL:COMMAND`);
    else before.set(Number(call), command);
  }
  const mode = readMode(values, problems);
  if (problems.length > 0 || file === undefined || mode === undefined) return { problems };
  const until = values.text("until");
  return { file, mode, expectations, before, until: until === undefined ? undefined : Number(until) };
}

function readMode(values: OptionValues, problems: string[]): ReplayMode | undefined {
  const [serve, against, command, path] = ["serve", "against", "start", "to-test"].map((name) => values.text(name));
  if ([serve, against, command].filter((one) => one !== undefined).length !== 1) {
    problems.push("replay needs one of --serve, --against and --start");
    return undefined;
  }
  if (path !== undefined && command === undefined)
    problems.push("--to-test needs --start: the test has to start the provider");
  if (path !== undefined && !TEST_ENDINGS.some((ending) => path.endsWith(ending))) {
    problems.push(`--to-test is ${path}; it ends in one of ${TEST_ENDINGS.join(", ")}`);
  }
  if (serve !== undefined) {
    const misplaced = ONLY_PLAYED.filter((name) => values.texts(name).some((text) => text !== "false"));
    problems.push(...misplaced.map((name) => `--${name} makes no sense with --serve, which plays nothing`));
  }
  if (command !== undefined) return path === undefined ? { kind: "start", command } : { kind: "test", command, path };
  const kind = serve === undefined ? "against" : "serve";
  const address = serve ?? against ?? "";
  const target = grpcTarget(address);
  if (target === undefined) problems.push(`--${kind} is ${address}; it is ${ADDRESS_FORMS}`);
  return { kind, address, target: target ?? "" };
}

/** What @grpc/grpc-js calls an address of ours; undefined: it is none. */
function grpcTarget(address: string): string | undefined {
  const [, path] = /^unix:\/\/(\/.+)$/.exec(address) ?? [];
  if (path !== undefined) return `unix://${path}`;
  const [, host] = /^tcp:\/\/((?:\[[^\]]+\]|[^:/[\]]+):\d{1,5})$/.exec(address) ?? [];
  return host;
}
