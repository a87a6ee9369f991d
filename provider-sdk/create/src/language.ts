/** A language that there is a template for; also the name of the template's directory. */
export type Language = (typeof languages)[number];

export const languages = ["typescript", "go", "python"] as const;

/** Parses what the user wrote; accepts `ts`, `golang` and `py` too. */
export function parseLanguage(text: string): Language | undefined {
  const word = text.toLowerCase();
  return languages.find((language) => language === (nicknames.get(word) ?? word));
}

const nicknames: ReadonlyMap<string, Language> = new Map([
  ["ts", "typescript"],
  ["golang", "go"],
  ["py", "python"],
]);
