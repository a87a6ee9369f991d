import { parseArgs } from "node:util";

export interface DemoOptions {
  /** Number of instances at the start. */
  readonly nodes: number;
  /** Exit after a check from outside that the demo works. */
  readonly once: boolean;
  readonly help: boolean;
}

/** An invalid command line: printed as one line, without a stack trace. */
class UsageError extends Error {}

const MAX_NODES = 200;

export const USAGE = `Usage: npm start -- [options]

  --nodes N   number of nodes at the start, 1 to ${MAX_NODES} (default 3)
  --once      wait until everything is ready, check it from outside, exit; for scripts and CI
  --help      print this text`;

export function parseOptions(args: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: "string", default: "3" },
      once: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const nodes = Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > MAX_NODES) {
    throw new UsageError(`--nodes ${values.nodes}: must be a whole number from 1 to ${MAX_NODES}`);
  }
  return { nodes, once: values.once, help: values.help };
}

/** util.parseArgs throws errors with these codes for invalid arguments. */
export function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
