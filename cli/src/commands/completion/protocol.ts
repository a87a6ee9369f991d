import type { Candidates } from "./candidates.ts";

/** Bits of the last line (github.com/spf13/cobra v1.10, ShellCompDirective), which kubectl reads of a plugin's completion, too. */
const NO_SPACE = 2;
const NO_FILES = 4;
const FOLDERS = 16;

/** Candidates as lines, and what the shell does with them behind a colon. */
export function completionLines({ words, paths, goesOn }: Candidates): string {
  const files = { none: NO_FILES, files: 0, folders: FOLDERS }[paths];
  return `${[...words, `:${files + (goesOn ? NO_SPACE : 0)}`].join("\n")}\n`;
}
