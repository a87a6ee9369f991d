import { UsageError } from "../check/usage-error.ts";
import { shorten } from "../contract/exchange.ts";
import { withProvider } from "../target/with-provider.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "../wire/endpoint.ts";
import type { TlsFiles } from "../wire/tls.ts";
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

const logTail = (log: string): string => {
  const lines = log.trimEnd().split("\n").slice(-20);
  return log.trim() === "" ? "" : `the provider's last lines:\n${lines.map((line) => shorten(line, 400)).join("\n")}\n`;
};
