import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { errorText } from "../error-text.ts";
import { UsageError } from "../errors.ts";

/** The file of a program, as a shell finds it. Throws a UsageError where there is none that can be run. */
export const findProgram = (program: string, path = process.env["PATH"] ?? ""): string => {
  const candidates = program.includes("/")
    ? [program]
    : path.split(delimiter).map((folder) => join(folder === "" ? "." : folder, program));
  const problems = candidates.map(problemOf);
  const found = candidates.find((_, index) => problems[index] === undefined);
  if (found !== undefined) return found.includes("/") ? found : `./${found}`;
  const why = program.includes("/") ? (problems[0] ?? "") : `there is no such program in PATH (${path})`;
  throw new UsageError(`${program} could not be started: ${why}`);
};

const problemOf = (file: string): string | undefined => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? undefined : `${file} is no file`;
  } catch (error) {
    return errorText(error);
  }
};
