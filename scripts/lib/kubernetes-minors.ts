import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.ts";

const FILE = "test/control-plane/versions.json";

/** The supported minors of Kubernetes besides the default one, oldest first. A part of the system suite runs on each of them. */
export const OTHER_MINORS: readonly string[] = parseOtherMinors(readFileSync(join(ROOT, FILE), "utf8"));

/** The oldest: what works on it and on the default minor works between them. A minor takes minutes to build, too many for CI to build each. */
export const MINORS_IN_CI: readonly string[] = OTHER_MINORS.slice(0, 1);
export const MINORS_ON_REQUEST: readonly string[] = OTHER_MINORS.slice(1);

/** The name of that suite. */
export const suiteOn = (minor: string): string => `system-${minor}`;

export function parseOtherMinors(text: string): readonly string[] {
  const content: unknown = JSON.parse(text);
  const valueOf = (key: string): unknown =>
    typeof content === "object" && content !== null ? Reflect.get(content, key) : undefined;
  const minors = valueOf("minors");
  if (typeof minors !== "object" || minors === null) throw new Error(`${FILE}: minors must be an object`);
  return Object.keys(minors)
    .filter((minor) => minor !== valueOf("default"))
    .sort();
}
