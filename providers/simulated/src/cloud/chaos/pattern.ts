/** Whether an operation (`instances.lookup`) fits a pattern: itself, `instances.*`, or `*`. */
export const fits = (pattern: string, operation: string): boolean =>
  pattern === operation || (pattern.endsWith("*") && operation.startsWith(pattern.slice(0, -1)));

/** The longest of the patterns that fit. */
export const bestPattern = (patterns: Readonly<Record<string, unknown>>, operation: string): string | undefined =>
  Object.keys(patterns)
    .filter((pattern) => fits(pattern, operation))
    .toSorted((left, right) => right.length - left.length)[0];

/** What stands under the longest of the patterns that fit. */
export const bestFit = <T>(patterns: Readonly<Record<string, T>>, operation: string): T | undefined => {
  const pattern = bestPattern(patterns, operation);
  return pattern === undefined ? undefined : patterns[pattern];
};
