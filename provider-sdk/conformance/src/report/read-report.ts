import { Value } from "typebox/value";
import { errorText } from "../error-text.ts";
import { UsageError } from "../errors.ts";
import type { Report } from "./report.ts";
import { reportSchema } from "./schema.ts";

/** So many problems are told; one wrong word can make many. */
const maxProblems = 5;

/** Reads a report in JSON. Throws a UsageError for what is none. */
export const parseReport = (text: string, path: string): Report => {
  const value = jsonOf(text, path);
  if (Value.Check(reportSchema, value)) return value;
  const problems = Value.Errors(reportSchema, value)
    .slice(0, maxProblems)
    .map(({ instancePath, message }) => `${instancePath || "the file"} ${message}`);
  throw new UsageError(`${path} is no report of this kit: ${problems.join("; ")}`);
};

const jsonOf = (text: string, path: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is no JSON: ${errorText(error)}; give the file that --format json wrote`);
  }
};
