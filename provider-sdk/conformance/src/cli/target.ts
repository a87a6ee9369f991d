import { UsageError } from "../check/usage-error.ts";
import { shorten } from "../contract/exchange.ts";
import { withProvider } from "../target/with-provider.ts";
import type { Arguments } from "./arguments.ts";
import { exitCodes, type ProgramDeps } from "./program-deps.ts";

/** An endpoint that was given, or one of a provider that lives as long as the work. */
export const withTarget = async (
  { endpoint, provider }: Arguments,
  deps: ProgramDeps,
  work: (endpoint: string, gone?: AbortSignal) => Promise<number>,
): Promise<number> => {
  if (endpoint !== undefined && provider.length === 0) return work(endpoint);
  if (endpoint !== undefined || provider.length === 0)
    throw new UsageError("give either --endpoint unix:///path.sock or, behind --, the command of a provider");
  return withProvider(provider, async (given, started) => {
    try {
      const code = await work(given, started.gone);
      if (code !== exitCodes.passed) deps.err(logTail(started.log()));
      return code;
    } catch (error) {
      deps.err(logTail(started.log()));
      throw error;
    }
  });
};

const logTail = (log: string): string => {
  const lines = log.trimEnd().split("\n").slice(-20);
  return log.trim() === "" ? "" : `the provider's last lines:\n${lines.map((line) => shorten(line, 400)).join("\n")}\n`;
};
