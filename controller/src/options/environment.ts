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
  const occurrences = [...rows].flatMap(([name, { key, flag }]) => {
    const where = variableName(name);
    const text = environment[where] ?? "";
    // A variable stands once: a flag that may be repeated has a line for each.
    const texts = flag.shape.kind === "list" ? text.split("\n").map((line) => line.trim()) : [text];
    return texts.filter((item) => item !== "").map((item) => ({ key, where, text: item }));
  });
  return { ...NOTHING_SAID, occurrences };
}
