import type { Problem } from "./problem.ts";

/** The one argument that is no flag: it prints a script for a shell. */
export const COMPLETION = "completion";

type Answer = { readonly kind: "completion" } | { readonly kind: "invalid"; readonly problems: readonly [Problem] };

/** What follows the word: one shell. */
export function readCompletion([shell, more]: readonly string[]): Answer {
  if (shell === "bash" && more === undefined) return { kind: "completion" };
  const what =
    shell === undefined
      ? "needs the name of a shell"
      : shell === "bash"
        ? `takes nothing after the shell, but there is "${more}"`
        : `there is none for "${shell}"`;
  return { kind: "invalid", problems: [{ where: COMPLETION, what: `${what}; write ${COMPLETION} bash` }] };
}
