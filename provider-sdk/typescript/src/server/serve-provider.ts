import { setLogger } from "@grpc/grpc-js";
import type { ProviderDefinition } from "../definition/provider.ts";
import { createLogger, type Logger, type LogLevel } from "../telemetry/log.ts";
import { readEnvironment } from "./listen/environment.ts";
import { ProviderStartError, unavailableExitCode } from "./start-error.ts";
import { type RunningProvider, startProvider } from "./start-provider.ts";

/** What may be given instead of the environment. */
export interface ServeOptions {
  /** Default: `CLOUD_PROVIDER_ENDPOINT`. */
  readonly endpoint?: string | undefined;
  /** `host:port` of `/livez`, `/readyz` and `/metrics`. Default: `CLOUD_PROVIDER_HTTP_ADDRESS`; without it they are not served. */
  readonly httpAddress?: string | undefined;
  /** Default: JSON lines on standard error, from `CLOUD_PROVIDER_LOG_LEVEL` on; SIGUSR2 turns `debug` on and off. */
  readonly log?: Logger | undefined;
  /** Names of more log fields whose values are secrets; see `createLogger`. Only without `log`. Default: none. */
  readonly secretLogFields?: readonly string[] | undefined;
  /** Called when the provider has ended, before its process does: the place to send off traces and the like. It has 3 s. */
  readonly onShutdown?: (() => Promise<void>) | undefined;
}

const crashExitCode = 1;

const maxShutdownHookMs = 3_000;

/** Terminals, npm and other wrappers send one request to end twice. */
const sameRequestMs = 500;

/**
 * Serves a provider as the main job of this process. Where, how and how loud comes from the environment:
 * `CLOUD_PROVIDER_ENDPOINT`, `CLOUD_PROVIDER_SOCKET_GROUP`, `CLOUD_PROVIDER_LOG_LEVEL`, `CLOUD_PROVIDER_TLS_CERT_FILE`,
 * `CLOUD_PROVIDER_TLS_KEY_FILE`, `CLOUD_PROVIDER_TLS_CLIENT_CA_FILE`, `CLOUD_PROVIDER_INSECURE_LOOPBACK`,
 * `CLOUD_PROVIDER_HTTP_ADDRESS`.
 *
 * SIGUSR2 turns the log level `debug` on, and off again. SIGTERM and SIGINT end it in order, with exit code 0; a second one ends it at once, unless it comes within 500 ms: that is the
 * same request. Mistakes in the definition or the environment are told in plain lines, all together, with exit code 78; an
 * endpoint that cannot be had, or a socket that was taken away, with 69.
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

/** A log whose level an operator can change while the process runs. SIGUSR1 is Node's own. */
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

/** grpc-js writes to standard error by itself: its lines belong among ours, and not beside a plain message to the operator. */
const forwardLibraryLog = (log: Logger): void => {
  const line = (...parts: readonly unknown[]) => log.debug("grpc-js", { text: parts.map(String).join(" ") });
  setLogger({ error: line, info: line, debug: line });
};

/** What the vendor wants done at the end may fail or hang; the process ends all the same. */
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

/** The next start makes a new socket, or says who has the place. */
const exitWhenLost = async (provider: RunningProvider, onShutdown: () => Promise<void>): Promise<void> => {
  if ((await provider.closed) !== "socketLost") return;
  await onShutdown();
  process.exit(unavailableExitCode);
};

/**
 * What nobody caught is a bug of the provider: it is written where the other lines are. What was thrown outside of promises ends the process,
 * as nobody knows what it left half-done. A promise that failed while its handler waited for another, or for none, does not: it is the
 * error of one call, and comes with each outage of a cloud. Contract: TRN-8.
 */
const logCrashes = (log: Logger): void => {
  process.on("unhandledRejection", (error) => {
    log.error("A promise failed that nobody waited for", { error });
  });
  process.on("uncaughtException", (error, origin) => {
    log.error("The provider crashed", { origin, error });
    process.exit(crashExitCode);
  });
};
