/**
 * Errors in a program's log, each kind once with how often it came. Nothing that the soak does is a reason for one: what is cut, refused
 * or restarted is tried again, which is a warning at most.
 */
export function logFaults(program: string, output: string): readonly string[] {
  const errors = output.split("\n").flatMap((line) => {
    const kind = errorIn(line);
    return kind === undefined ? [] : [{ kind, line }];
  });
  return [...Map.groupBy(errors, ({ kind }) => kind)].map(
    ([kind, found]) => `the ${program} logged ${found.length} times an error "${kind}", first: ${found[0]?.line ?? ""}`,
  );
}

/** The constant message of a line of level error: the controller's are text, those of a sidecar on the SDK are JSON. */
function errorIn(line: string): string | undefined {
  return /^\S+ ERROR (.*?)(?: [a-zA-Z]+=.*)?$/.exec(line)?.[1] ?? /"level":"error","message":"([^"]*)/.exec(line)?.[1];
}
