/** Errors that the soak itself brings about; each is a pattern of a line and why it is no fault. */
const EXPECTED: readonly RegExp[] = [];

/** Error lines of a program's log that nothing in the soak explains, each kind once with how often it came. */
export function logFaults(program: string, output: string): readonly string[] {
  const errors = output
    .split("\n")
    .filter((line) => / ERROR /.test(line) && !EXPECTED.some((expected) => expected.test(line)));
  const kinds = Map.groupBy(errors, (line) => line.replace(/^\S+ ERROR /, "").replace(/ [a-zA-Z]+=.*/, ""));
  return [...kinds].map(
    ([kind, lines]) => `the ${program} logged ${lines.length} times an error "${kind}", first: ${lines[0] ?? ""}`,
  );
}
