import { parseArgs } from "node:util";
import { UserError } from "../../scripts/lib/user-error.ts";

export interface DemoOptions {
  /** Machines to start with. */
  readonly nodes: number;
  /** Reach "ready", check it from outside, end. */
  readonly once: boolean;
  readonly help: boolean;
}

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
    throw new UserError(`--nodes ${values.nodes}: has to be a whole number from 1 to ${MAX_NODES}`);
  }
  return { nodes, once: values.once, help: values.help };
}
