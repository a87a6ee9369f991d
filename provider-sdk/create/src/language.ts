/** A language that there is a template for; also the name of the template's directory. */
export type Language = (typeof languages)[number];

export const languages = ["typescript", "go", "python"] as const;

/** Narrows what somebody wrote; `ts`, `golang` and `py` are understood too. */
export function parseLanguage(text: string): Language | undefined {
  const word = text.toLowerCase();
  return languages.find((language) => language === (nicknames.get(word) ?? word));
}

const nicknames: ReadonlyMap<string, Language> = new Map([
  ["ts", "typescript"],
  ["golang", "go"],
  ["py", "python"],
]);
