import { pythonPackage, type Choices } from "./choices.ts";

/** A word of the templates and what stands in its place in the project. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
}

/**
 * The templates are the project of a vendor named Acme, and work as they stand. What Acme named is all that a project has of its own:
 * file names and texts alike.
 */
export function replacementsOf({ name, domain, idPrefix }: Choices): readonly Replacement[] {
  return [
    { from: "acme.example.com", to: domain },
    { from: "acme-provider", to: name },
    { from: "acme_provider", to: pythonPackage(name) },
    { from: "acme://", to: `${idPrefix}://` },
  ];
}

/** Replaces all at once, so that what was put in is not replaced again. */
export function replaceAll(text: string, replacements: readonly Replacement[]): string {
  const words = new Map(replacements.map(({ from, to }) => [from, to]));
  const pattern = new RegExp([...words.keys()].map((word) => escapeForPattern(word)).join("|"), "g");
  return text.replace(pattern, (word) => words.get(word) ?? word);
}

const escapeForPattern = (word: string): string => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
