import type { ProviderDefinition } from "../definition/provider.ts";
import { createLogger, parseLogLevel } from "../log/logger.ts";
import { parseEndpoint } from "./endpoint.ts";
import { ProviderStartError } from "./start-error.ts";
import { type RunningProvider, startProvider } from "./start-provider.ts";

/** What may be given instead of the environment. */
export interface ServeOptions {
  /** Default: `CLOUD_PROVIDER_ENDPOINT`. */
  readonly endpoint?: string | undefined;
}

/**
 * Serves a provider as the main job of this process: endpoint and log level come from the environment, SIGTERM and SIGINT
 * end it in order. Mistakes are told in plain lines and end the process with code 78.
 */
export const serveProvider = async (
  definition: ProviderDefinition,
  options: ServeOptions = {},
): Promise<RunningProvider> => {
  const log = createLogger({
    level: parseLogLevel(process.env["CLOUD_PROVIDER_LOG_LEVEL"] ?? "") ?? "info",
    write: (line) => process.stderr.write(line),
    now: () => new Date(),
  });
  try {
    const parsed = parseEndpoint(options.endpoint ?? process.env["CLOUD_PROVIDER_ENDPOINT"]);
    if (parsed.kind === "problem") throw new ProviderStartError("CONFIG_INVALID", [parsed.problem]);
    const provider = await startProvider(definition, { endpoint: parsed.endpoint, log });
    const end = () => void provider.close().then(() => process.exit(0));
    process.once("SIGTERM", end);
    process.once("SIGINT", end);
    log.info("Serving", { address: provider.address, bootId: provider.bootId });
    return provider;
  } catch (error) {
    if (!(error instanceof ProviderStartError)) throw error;
    for (const problem of error.problems) process.stderr.write(`${problem}\n`);
    return process.exit(error.exitCode);
  }
};
