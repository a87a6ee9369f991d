import { messageOf } from "../util/errors.ts";

/** Reads a file that a setting names; throws when it cannot. */
export type ReadText = (path: string) => string;

/** The text of such a file, or why it cannot be read. */
export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly what: string };

/** Never throws. */
export function readFileText(path: string, readText: ReadText): FileText {
  try {
    return { kind: "text", text: readText(path) };
  } catch (error) {
    return { kind: "unreadable", what: `cannot be read: ${messageOf(error)}` };
  }
}
