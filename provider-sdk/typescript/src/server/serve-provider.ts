import { setLogger } from "@grpc/grpc-js";
import type { ProviderDefinition } from "../definition/provider.ts";
import { createLogger, type Logger, type LogLevel } from "../telemetry/log.ts";
import { readEnvironment } from "./listen/environment.ts";
import { ProviderStartError, unavailableExitCode } from "./start-error.ts";
import { type RunningProvider, startProvider } from "./start-provider.ts";

/** Options of {@link serveProvider}; they override the environment. */
export interface ServeOptions {
  /** Default: `CLOUD_PROVIDER_ENDPOINT`. */
  readonly endpoint?: string | undefined;
  /** `host:port` of `/livez`, `/readyz` and `/metrics`. Default: `CLOUD_PROVIDER_HTTP_ADDRESS`; without it they are not served. */
  readonly httpAddress?: string | undefined;
  /** Default: JSON lines on standard error, from `CLOUD_PROVIDER_LOG_LEVEL` on; SIGUSR2 turns `debug` on and off. */
  readonly log?: Logger | undefined;
  /** Names of more log fields whose values are secrets; see `createLogger`. Only without `log`. Default: none. */
  readonly secretLogFields?: readonly string[] | undefined;
  /** Called after the provider has closed and before the process exits, for example to flush traces. Time limit: 3 s. */
  readonly onShutdown?: (() => Promise<void>) | undefined;
}

const crashExitCode = 1;

const maxShutdownHookMs = 3_000;

/** Terminals, npm and other wrappers send one termination request twice. */
const sameRequestMs = 500;

/**
 * Serves a provider as the main task of this process. Configured by the environment: `CLOUD_PROVIDER_ENDPOINT`,
 * `CLOUD_PROVIDER_SOCKET_GROUP`, `CLOUD_PROVIDER_LOG_LEVEL`, `CLOUD_PROVIDER_TLS_CERT_FILE`, `CLOUD_PROVIDER_TLS_KEY_FILE`,
 * `CLOUD_PROVIDER_TLS_CLIENT_CA_FILE`, `CLOUD_PROVIDER_INSECURE_LOOPBACK`, `CLOUD_PROVIDER_HTTP_ADDRESS`. SIGUSR2 toggles the log level
 * `debug`. SIGTERM and SIGINT shut down gracefully, with exit code 0; a second one after 500 ms or more exits immediately. Configuration
 * errors are all reported in plain lines, with exit code 78; an unavailable endpoint or a removed socket, with exit code 69.
 */
export const serveProvider = async (
  definition: ProviderDefinition,
  options: ServeOptions = {},
): Promise<RunningProvider> => {
  const settings = readEnvironment(process.env, options);
  const log = options.log ?? standardLog(settings.logLevel, options.secretLogFields);
  forwardLibraryLog(log);
  try {
    const { endpoint, problems } = settings;
    if (!endpoint || problems.length > 0) throw new ProviderStartError("CONFIG_INVALID", problems);
    const provider = await startProvider(definition, { ...settings, endpoint, log });
    const onShutdown = async (): Promise<void> => lastWords(options.onShutdown, log);
    endOnSignals(provider, onShutdown, log);
    void exitWhenLost(provider, onShutdown);
    logCrashes(log);
    log.info("Serving", {
      provider: definition.name,
      version: definition.version,
      address: provider.address,
      httpAddress: provider.httpAddress,
    });
    return provider;
  } catch (error) {
    if (!(error instanceof ProviderStartError)) throw error;
    for (const problem of error.problems) process.stderr.write(`${definition.name ?? "provider"}: ${problem}\n`);
    return process.exit(error.exitCode);
  }
};

/** A logger whose level an operator can change while the process runs. SIGUSR1 is reserved by Node. */
const standardLog = (configured: LogLevel, secretFields: ServeOptions["secretLogFields"]): Logger => {
  let level = configured;
  const log = createLogger({
    level: () => level,
    write: (line) => process.stderr.write(line),
    now: () => new Date(),
    secretFields,
  });
  process.on("SIGUSR2", () => {
    level = level === "debug" ? quieter(configured) : "debug";
    log[level]("The log level has changed", { to: level });
  });
  return log;
};

const quieter = (configured: LogLevel): LogLevel => (configured === "debug" ? "info" : configured);

/** grpc-js writes to standard error itself: its lines go to our log, not next to a plain message to the operator. */
const forwardLibraryLog = (log: Logger): void => {
  const line = (...parts: readonly unknown[]) => log.debug("grpc-js", { text: parts.map(String).join(" ") });
  setLogger({ error: line, info: line, debug: line });
};

/** The vendor's hook may fail or hang; the process exits anyway. */
const lastWords = async (onShutdown: ServeOptions["onShutdown"], log: Logger): Promise<void> => {
  if (onShutdown === undefined) return;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => late.reject(new Error(`it took longer than ${maxShutdownHookMs} ms`)),
    maxShutdownHookMs,
  );
  try {
    await Promise.race([onShutdown(), late.promise]);
  } catch (error) {
    log.warn("What was to be done at the end failed", { error });
  } finally {
    clearTimeout(timer);
  }
};

const endOnSignals = (provider: RunningProvider, onShutdown: () => Promise<void>, log: Logger): void => {
  let askedAtMs: number | undefined;
  const end = (signal: NodeJS.Signals) => {
    if (askedAtMs !== undefined) {
      if (performance.now() - askedAtMs < sameRequestMs) return;
      process.exit(crashExitCode);
    }
    askedAtMs = performance.now();
    log.info("Shutting down", { signal });
    provider
      .close()
      .then(onShutdown)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error("The shutdown failed", { error });
          process.exit(crashExitCode);
        },
      );
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
};

/** The next start creates a new socket, or reports which process uses it. */
const exitWhenLost = async (provider: RunningProvider, onShutdown: () => Promise<void>): Promise<void> => {
  if ((await provider.closed) !== "socketLost") return;
  await onShutdown();
  process.exit(unavailableExitCode);
};

/**
 * An uncaught error is a bug of the provider, and is logged. An exception outside of promises ends the process, because the state is
 * undefined. A rejected promise that no handler awaited does not: it is the error of one call, and occurs with each cloud outage.
 * Contract: TRN-8.
 */
const logCrashes = (log: Logger): void => {
  process.on("unhandledRejection", (error) => {
    log.error("Unhandled promise rejection", { error });
  });
  process.on("uncaughtException", (error, origin) => {
    log.error("The provider crashed", { origin, error });
    process.exit(crashExitCode);
  });
};
