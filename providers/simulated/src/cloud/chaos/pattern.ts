/** Whether an operation (`instances.lookup`) fits a pattern: itself, `instances.*`, or `*`. */
export const fits = (pattern: string, operation: string): boolean =>
  pattern === operation || (pattern.endsWith("*") && operation.startsWith(pattern.slice(0, -1)));

/** The longest of the patterns that fit. */
export const bestFit = <T>(patterns: Readonly<Record<string, T>>, operation: string): T | undefined => {
  const fitting = Object.entries(patterns).filter(([pattern]) => fits(pattern, operation));
  fitting.sort(([left], [right]) => right.length - left.length);
  return fitting[0]?.[1];
};
