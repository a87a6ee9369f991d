import { parseArgs } from "node:util";

export interface DemoOptions {
  /** Machines to start with. */
  readonly nodes: number;
  /** Reach "ready", check it from outside, end. */
  readonly once: boolean;
  readonly help: boolean;
}

/** A fault of the command line, which who typed it can mend: printed as one line, without a stack. */
class UsageError extends Error {}

const MAX_NODES = 200;

export const USAGE = `Usage: npm start -- [options]

  --nodes N   machines to start with, 1 to ${MAX_NODES}; 3 unless told
  --once      reach "ready", check from outside that it is true, end: for scripts and CI
  --help      this text`;

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
    throw new UsageError(`--nodes ${values.nodes}: has to be a whole number from 1 to ${MAX_NODES}`);
  }
  return { nodes, once: values.once, help: values.help };
}

/** util.parseArgs throws errors with these codes for what was typed. */
export function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
}
