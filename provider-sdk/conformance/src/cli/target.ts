import { UsageError } from "../errors.ts";
import { shorten } from "../endpoint/exchange.ts";
import { withProvider } from "../endpoint/own-providers.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "../endpoint/endpoint.ts";
import type { TlsFiles } from "../endpoint/tls.ts";
import type { Arguments } from "./arguments.ts";
import { readConfig } from "./config.ts";
import { exitCodes, type ProgramDeps } from "./program-deps.ts";

/** The provider that a command works on. */
export interface Target {
  /** As it is written on a command line. */
  readonly endpoint: string;
  readonly tls?: TlsFiles;
  readonly parsed: Endpoint;
  /** Of a provider that was started: aborted once it has ended. */
  readonly gone?: AbortSignal;
  readonly pid?: number;
}

/** An endpoint that was given, or one of a provider that lives as long as the work. */
export const withTarget = async (
  args: Arguments,
  deps: ProgramDeps,
  work: (target: Target) => Promise<number>,
): Promise<number> => {
  const { endpoint, provider, transport } = args;
  if (endpoint !== undefined && provider.length === 0) return work(await givenTarget(args, endpoint));
  if (endpoint !== undefined || provider.length === 0)
    throw new UsageError("give either --endpoint unix:///path.sock or, behind --, the command of a provider");
  if (args.tls !== undefined)
    throw new UsageError(
      "--tls-ca and the like are for --endpoint; a provider behind -- is given certificates by --transport tls",
    );
  return withProvider(
    provider,
    async (place, { gone, log, pid }) => {
      const target = { endpoint: formatEndpoint(place.endpoint), parsed: place.endpoint, gone };
      try {
        const code = await work({ ...target, ...(place.tls && { tls: place.tls }), ...(pid !== undefined && { pid }) });
        if (code !== exitCodes.passed) deps.err(logTail(log()));
        return code;
      } catch (error) {
        deps.err(logTail(log()));
        throw error;
      }
    },
    transport,
  );
};

/** Options go before the configuration, whose files of TLS are for runs over TCP. */
const givenTarget = async ({ config, tls: given }: Arguments, endpoint: string): Promise<Target> => {
  const configured = endpoint.startsWith("unix:") ? undefined : (await readConfig(config)).tls;
  const tls = given === undefined ? configured : { ...configured, ...definedOf(given) };
  return { endpoint, parsed: parseEndpoint(endpoint, tls), ...(tls !== undefined && { tls }) };
};

const definedOf = (files: TlsFiles): TlsFiles =>
  Object.fromEntries(Object.entries(files).filter(([, value]) => value !== undefined));

/** Where in its code an error came about is in the provider's own log; what it says has to fit on a line. */
export const withoutStack = (line: string): string => line.replaceAll(/,? ?"stack": ?"(?:[^"\\]|\\.)*"/g, "");

/** Lines without those that are said again later: of a thousand look-ups that fail alike, one is worth reading. */
export const folded = (lines: readonly string[]): readonly string[] => {
  const groups = Map.groupBy(lines.toReversed(), withoutCall);
  return [...groups.values()]
    .map(([last = "", ...earlier]) => (earlier.length === 0 ? last : `(${earlier.length + 1} times) ${last}`))
    .toReversed();
};

/** What a line says, without the time and the ids of its call. */
const withoutCall = (line: string): string =>
  line.replaceAll(/"(?:time|requestID|correlationId|traceID)": ?"[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}/g, "");

const logTail = (log: string): string => {
  const lines = folded(log.trimEnd().split("\n").map(withoutStack)).slice(-20);
  return log.trim() === "" ? "" : `the provider's last lines:\n${lines.map((line) => shorten(line, 800)).join("\n")}\n`;
};
