import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { methodRules } from "@cloudwire/proto/methods";
import { CommandError, UsageError, messageOf } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import { printable } from "../../terminal/terminal.ts";
import type { Call } from "../command.ts";
import { jsonText, yamlText } from "../show.ts";
import { type Difference, type PlayReport, play } from "./play.ts";
import { ProviderClient, ProviderProcess } from "./live-provider.ts";
import { RecordedServer, type ServeReport } from "./recorded-server.ts";
import { type Recording, readRecording } from "./recording.ts";
import { type Address, REPLAY_OPTIONS, type ReplayOptions, parseReplayOptions } from "./replay-options.ts";
import { testFile } from "./test-file.ts";

/** Timeout for the start of a provider. */
const CONNECT_MS = 60_000;

export async function runReplay(call: Call): Promise<number> {
  const { operands, values } = call;
  const options = parseReplayOptions(operands, values);
  if ("problems" in options) throw new UsageError(options.problems);
  const recording = await readFrom(options.file, call);
  for (const warning of recording.warnings) call.terminal.err(`${warning}\n`);
  checkCalls(options, recording);
  const { mode } = options;
  switch (mode.kind) {
    case "serve":
      return serve(recording, mode, call);
    case "against":
      return report(call, await playAgainst(recording, mode, options, call));
    case "start":
      return report(call, await playStarted(recording, mode.command, options, call));
    case "test":
      return writeTest(options, mode, call);
    default:
      return mode satisfies never;
  }
}

async function readFrom(file: string, { values }: Call): Promise<Recording> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CommandError("FILE_UNREADABLE", `cannot read ${file}: ${messageOf(error)}`);
  });
  const session = values.text("session");
  const provider = values.text("provider");
  return readRecording(file, text, { provider, session: session === undefined ? undefined : Number(session) });
}

/** An expectation for a call that does not exist or is not compared would never fail. */
function checkCalls({ expectations, hooks: before, until, file }: ReplayOptions, { calls }: Recording): void {
  const known = new Set(calls.map(({ call }) => call));
  const wanted = new Set(expectations.map(({ call }) => call));
  const unknown = [...new Set([...wanted, ...before.keys()])].filter((call) => !known.has(call));
  if (unknown.length > 0) throw new CommandError("NOT_IN_RECORDING", `${file} has no call ${unknown.join(", ")}`);
  const compared = calls.filter(
    ({ call, method, end }) => end !== undefined && !methodRules[method].stream && call <= (until ?? call),
  );
  const uncompared = [...wanted].filter((number) => compared.every(({ call }) => call !== number));
  if (uncompared.length > 0)
    throw new CommandError(
      "NOT_IN_RECORDING",
      `call ${uncompared.join(", ")} is not compared, so --expect has no effect: it is a stream, did not end in the recording, or is after --until`,
    );
}

async function serve(recording: Recording, { address, target }: Address, call: Call): Promise<number> {
  const { terminal, signal, values } = call;
  const isPaced = values.textOf("speed") === "recorded";
  const onUnknown = (message: string): void => terminal.err(`${message}\n`);
  await using server = await RecordedServer.start(recording, { address, target, isPaced, onUnknown });
  terminal.err(`serving ${recording.calls.length} calls of provider ${recording.provider} at ${address}\n`);
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const { report } = server;
  write(call, report, serveText(report));
  return report.unknown.length === 0 ? EXIT.ok : EXIT.failed;
}

async function playStarted(
  recording: Recording,
  command: string,
  options: ReplayOptions,
  call: Call,
): Promise<PlayReport> {
  await using provider = await ProviderProcess.start(command, call.environment);
  const { address, failed } = provider;
  const target = address;
  return await Promise.race([playAgainst(recording, { address, target }, options, call), failed]);
}

async function playAgainst(
  recording: Recording,
  { address, target }: Address,
  options: ReplayOptions,
  call: Call,
): Promise<PlayReport> {
  using client = new ProviderClient(address, target);
  // A provider may not respond for a long time; the one that was started must be stopped.
  return await Promise.race([playWith(client, recording, options, call), stopped(call.signal)]);
}

async function playWith(
  client: ProviderClient,
  recording: Recording,
  options: ReplayOptions,
  { values, signal, environment }: Call,
): Promise<PlayReport> {
  await client.connected(CONNECT_MS);
  return await play(recording, client, {
    isPaced: values.textOf("speed") === "recorded",
    all: values.flag("all"),
    retryTimeoutMs: values.text("retry-timeout") === undefined ? 0 : values.durationMs("retry-timeout"),
    until: options.until,
    expectations: options.expectations,
    before: async (number) => {
      const command = options.hooks.get(number);
      if (command !== undefined) await runHook(command, environment, signal);
    },
    signal,
  });
}

/** Rejects when the process shuts down. */
function stopped(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(new CommandError("INTERRUPTED", "the replay was interrupted"));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return promise;
}

async function runHook(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await promisify(execFile)("sh", ["-c", command], { env, signal });
  } catch (error) {
    throw new CommandError("HOOK_FAILED", `--hook: ${command}: ${messageOf(error)}`);
  }
}

function report(call: Call, played: PlayReport): number {
  write(call, played, playText(played));
  return played.differences.length === 0 ? EXIT.ok : EXIT.failed;
}

async function writeTest(
  { file }: ReplayOptions,
  { command, path }: { readonly command: string; readonly path: string },
  call: Call,
): Promise<number> {
  const text = testFile({ path, recording: file, command, args: passedArgs(call) });
  const mode = path.endsWith(".sh") ? 0o755 : 0o644;
  await writeFile(path, text, { flag: "wx", mode }).catch((error: unknown) => {
    throw new CommandError("FILE_NOT_WRITABLE", `cannot write ${path}: ${messageOf(error)}`);
  });
  call.terminal.err(`wrote ${path}\n`);
  return EXIT.ok;
}

/** The options that the test must repeat. */
function passedArgs({ values }: Call): readonly string[] {
  const single = ["speed", "until", "retry-timeout", "provider", "session"].flatMap((name) => {
    const value = values.text(name);
    return value === undefined || value === REPLAY_OPTIONS[name]?.default ? [] : [`--${name}=${value}`];
  });
  const several = ["expect", "hook"].flatMap((name) => values.texts(name).map((value) => `--${name}=${value}`));
  return [...single, ...several, ...(values.flag("all") ? ["--all"] : [])];
}

function write({ values, terminal }: Call, report: PlayReport | ServeReport, text: string): void {
  const format = values.textOf("output");
  if (format === "text") terminal.out(text);
  else terminal.out(format === "json" ? `${jsonText(report, 2)}\n` : yamlText(report));
}

/** The result of a replay as text. */
export function playText({ provider, played, compared, uncompared, differences, digest }: PlayReport): string {
  const calls = differences.map(({ call }) => call);
  const found = new Set(calls).size;
  const result =
    found === 0 ? "no differences" : `${found} ${found === 1 ? "call" : "calls"} with a different response`;
  return [
    `${played} calls of provider ${printable(provider)} replayed, ${compared} compared: ${result}`,
    ...uncompared.map(({ call, method, why }) => `not compared: call ${call}, ${method}: ${why}`),
    ...differences.flatMap(differenceLines),
    ...(found === 0 ? [`digest of the responses: ${digest}`] : []),
    "",
  ].join("\n");
}

function differenceLines({ call, line, method, field, wanted, got }: Difference): readonly string[] {
  return [
    `call ${call} (line ${line}), ${method}: ${printable(field)}`,
    `  expected: ${shown(wanted)}`,
    `  actual:   ${shown(got)}`,
  ];
}

/** The requests to a served recording as text. */
export function serveText({ answered, unknown }: ServeReport): string {
  const sum = Object.values(answered).reduce((total, count) => total + count, 0);
  const counts = Object.entries(answered).map(([method, count]) => `${method} ${count}`);
  return [
    `${sum} recorded responses sent${counts.length === 0 ? "" : ` (${counts.join(", ")})`}, ${unknown.length} requests not in the recording`,
    ...new Set(unknown.map(printable)),
    "",
  ].join("\n");
}

function shown(value: unknown): string {
  return value === undefined ? "absent" : printable(JSON.stringify(value));
}
