import { NOTHING_SAID, type Said } from "./occurrence.ts";
import { rows } from "./rows.ts";

const PREFIX = "CLOUDWIRE_";

/** `leader-elect` to `CLOUDWIRE_LEADER_ELECT`. */
export function variableName(flag: string): string {
  return `${PREFIX}${flag.replaceAll("-", "_").toUpperCase()}`;
}

/**
 * The settings among the environment's variables. An empty one is as good as none. Names that are no setting are nobody's fault: a
 * Service called "cloudwire" puts some into every pod of its namespace.
 */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Said {
  const occurrences = [...rows].flatMap(([name, { key }]) => {
    const where = variableName(name);
    const text = environment[where] ?? "";
    return text === "" ? [] : [{ key, where, text }];
  });
  return { ...NOTHING_SAID, occurrences };
}
