import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { codeNames } from "@cloudwire/proto/codes";
import { CommandError } from "../../errors.ts";
import { isRecord, type Json } from "../../client/json.ts";

/** How a recorded call ended. */
export interface RecordedEnd {
  readonly line: number;
  readonly atMs: number;
  readonly code: string;
  readonly message: string;
  readonly details: readonly Json[];
  /** undefined: there was no message. */
  readonly response: Json | undefined;
  /** The controller gave up: what the provider would have answered is not known. */
  readonly isGivenUp: boolean;
}

export interface RecordedCall {
  /** As the recording numbers it. */
  readonly call: number;
  readonly method: MethodName;
  readonly line: number;
  readonly atMs: number;
  readonly timeMs: number;
  /** undefined: a stream. */
  readonly timeoutMs: number | undefined;
  readonly requestId: string;
  readonly request: Json;
  /** Of a stream. */
  readonly messages: readonly { readonly atMs: number; readonly response: Json }[];
  /** undefined: the call had not ended when the recording did. */
  readonly end: RecordedEnd | undefined;
}

/** What was said to one provider by one process. */
export interface Recording {
  readonly program: string;
  readonly provider: string;
  /** In the order in which they began. */
  readonly calls: readonly RecordedCall[];
  /** Begins and ends of calls, in their order. */
  readonly events: readonly { readonly kind: "start" | "end"; readonly call: RecordedCall }[];
  /** Gaps of the recording. */
  readonly warnings: readonly string[];
}

export interface RecordingChoice {
  /** Of several providers. @default the only one */
  readonly provider?: string | undefined;
  /** The number of the process, from 1. @default the last */
  readonly session?: number | undefined;
}

/** Highest version of the format that is understood. */
const VERSION = 1;

interface Line {
  readonly number: number;
  readonly json: Json;
}

/** Reads the text of a recording; `file` is for messages. */
export function readRecording(file: string, text: string, choice: RecordingChoice = {}): Recording {
  const sessions = sessionsOf(file, linesOf(file, text));
  const number = choice.session ?? sessions.length;
  const session = sessions[number - 1];
  if (session === undefined)
    throw new CommandError("NOT_IN_RECORDING", `${file} has ${sessions.length} sessions, and no session ${number}`);
  const [head, ...lines] = session.lines;
  const provider = providerOf(file, lines, choice.provider);
  const own = lines.filter(({ json }) => json["provider"] === provider);
  const calls = callsOf(file, own);
  const byNumber = new Map(calls.map((call) => [call.call, call]));
  const events = own.flatMap(({ json }) => {
    const { kind } = json;
    const call = byNumber.get(numberOf(json, "call"));
    return call !== undefined && (kind === "start" || kind === "end") ? [{ kind, call } as const] : [];
  });
  const several =
    sessions.length > 1 ? [`${file} has ${sessions.length} sessions; using session ${number} (--session)`] : [];
  return {
    program: textOf(head?.json ?? {}, "program"),
    provider,
    calls,
    events,
    warnings: [...several, ...session.warnings],
  };
}

function linesOf(file: string, text: string): readonly Line[] {
  const lines = text.split("\n");
  // An incomplete line of a killed process.
  if (lines.at(-1) !== "") lines.pop();
  return lines.flatMap((line, index) => {
    if (line === "") return [];
    try {
      const json: unknown = JSON.parse(line);
      if (isRecord(json)) return [{ number: index + 1, json }];
    } catch {
      // Reported below.
    }
    throw new CommandError(
      "RECORDING_INVALID",
      `${file}, line ${index + 1}: not a JSON object; is this a recording of --record-provider?`,
    );
  });
}

function sessionsOf(
  file: string,
  lines: readonly Line[],
): readonly { readonly lines: readonly Line[]; readonly warnings: readonly string[] }[] {
  const [first] = lines;
  if (first === undefined) throw new CommandError("RECORDING_INVALID", `${file} is empty`);
  if (first.json["kind"] !== "header" || first.json["format"] !== "cloudwire.recording") {
    throw new CommandError(
      "RECORDING_INVALID",
      `${file} is not a recording: its first line is not a header of format cloudwire.recording`,
    );
  }
  const starts = lines.flatMap(({ json }, index) => (json["kind"] === "header" ? [index] : []));
  return starts.map((start, index) => {
    const own = lines.slice(start, starts[index + 1]);
    const version = numberOf(own[0]?.json ?? {}, "version");
    if (version > VERSION) {
      throw new CommandError(
        "RECORDING_INVALID",
        `${file} has format version ${version}, and this program supports ${VERSION}; use a newer version of cloudwire`,
      );
    }
    return { lines: own, warnings: warningsOf(own) };
  });
}

function warningsOf(lines: readonly Line[]): readonly string[] {
  const warnings: string[] = [];
  const dropped = lines
    .filter(({ json }) => json["kind"] === "dropped")
    .reduce((sum, { json }) => sum + numberOf(json, "lines"), 0);
  if (dropped > 0) warnings.push(`the recording lacks ${dropped} dropped lines`);
  const lossy = lines.filter(({ json }) => json["lossy"] === true).length;
  if (lossy > 0) {
    warnings.push(
      `${lossy} responses are lossy: they held data that the recording lacks, such as times finer than a millisecond`,
    );
  }
  const last = lines.at(-1)?.json["kind"];
  if (last === "sizeLimit") warnings.push("the recording ends where it reached --record-provider-maxsize");
  else if (last !== "footer")
    warnings.push("the recording has no footer: its process is still running or did not shut down cleanly");
  return warnings;
}

function providerOf(file: string, lines: readonly Line[], wanted: string | undefined): string {
  const names = [
    ...new Set(lines.flatMap(({ json }) => (typeof json["provider"] === "string" ? [json["provider"]] : []))),
  ];
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    throw new CommandError(
      "NOT_IN_RECORDING",
      `${file} has no calls of provider ${wanted}; its providers: ${names.length === 0 ? "none" : names.join(", ")}`,
    );
  }
  const [only, ...others] = names;
  if (only === undefined) throw new CommandError("NOT_IN_RECORDING", `${file} has no calls`);
  if (others.length > 0)
    throw new CommandError(
      "NOT_IN_RECORDING",
      `${file} has several providers: select one of ${names.join(", ")} with --provider`,
    );
  return only;
}

function callsOf(file: string, lines: readonly Line[]): readonly RecordedCall[] {
  const parts = Map.groupBy(lines, ({ json }) => numberOf(json, "call"));
  return lines
    .filter(({ json }) => json["kind"] === "start")
    .map((line) => callOf(file, line, parts.get(numberOf(line.json, "call")) ?? []));
}

function callOf(file: string, { number, json }: Line, parts: readonly Line[]): RecordedCall {
  const method = methodOf(textOf(json, "method"));
  if (method === undefined)
    throw new CommandError("RECORDING_INVALID", `${file}, line ${number}: unknown method ${textOf(json, "method")}`);
  const end = parts.find((part) => part.json["kind"] === "end");
  const messages = parts.filter((part) => part.json["kind"] === "message");
  return {
    call: numberOf(json, "call"),
    method,
    line: number,
    atMs: numberOf(json, "atMs"),
    timeMs: Date.parse(textOf(json, "time")),
    timeoutMs: typeof json["timeoutMs"] === "number" ? json["timeoutMs"] : undefined,
    requestId: textOf(json, "requestID"),
    request: recordOf(json, "request") ?? {},
    messages: messages.map((part) => ({
      atMs: numberOf(part.json, "atMs"),
      response: recordOf(part.json, "response") ?? {},
    })),
    end: end && endOf(file, end),
  };
}

function endOf(file: string, { number, json }: Line): RecordedEnd {
  const code = textOf(json, "code");
  if (!codeNames.some((name) => name === code))
    throw new CommandError("RECORDING_INVALID", `${file}, line ${number}: unknown code ${code}`);
  const details = json["details"];
  return {
    line: number,
    atMs: numberOf(json, "atMs"),
    code,
    message: textOf(json, "message"),
    details: Array.isArray(details) ? details.filter(isRecord) : [],
    response: recordOf(json, "response"),
    isGivenUp: json["cancelled"] === true,
  };
}

/** undefined: not a method of the contract. */
function methodOf(name: string): MethodName | undefined {
  return METHODS.find((method) => method === name);
}

const METHODS: readonly MethodName[] = Object.keys(methodRules).filter(
  (name): name is MethodName => name in methodRules,
);

function numberOf(json: Json, key: string): number {
  const value = json[key];
  return typeof value === "number" ? value : 0;
}

function textOf(json: Json, key: string): string {
  const value = json[key];
  return typeof value === "string" ? value : "";
}

function recordOf(json: Json, key: string): Json | undefined {
  const value = json[key];
  return isRecord(value) ? value : undefined;
}
