/** What the subject of a commit begins with. */
const VERBS = [
  "Add",
  "Bump",
  "Change",
  "Document",
  "Fix",
  "Merge",
  "Move",
  "Refactor",
  "Remove",
  "Rename",
  "Speed up",
  "Test",
];

const LONGEST = 72;

/** What is wrong with the subject of a commit, one sentence; undefined for a good one. */
export function subjectProblem(subject: string): string | undefined {
  if (subject.length > LONGEST) return `has ${subject.length} characters; at most ${LONGEST} are allowed`;
  if (!VERBS.some((verb) => subject.startsWith(`${verb} `))) return `starts with none of ${VERBS.join(", ")}`;
  return undefined;
}

/** The last commit before this rule. */
export const LAST_UNCHECKED_COMMIT = "c34b692a";
