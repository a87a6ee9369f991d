import { checkLayers } from "../check.ts";
import type { Exception } from "../exceptions.ts";

/** What is wrong with these files (path to text). */
export function messages(
  files: Readonly<Record<string, string>>,
  exceptions: readonly Exception[] = [],
): readonly string[] {
  const violations = checkLayers(new Map(Object.entries(files)), exceptions);
  return violations.map(({ path, line, message }) => `${path}:${line} ${message}`);
}
