const PLAIN: Readonly<Record<string, string>> = {
  "…": "...",
  "–": "-",
  "—": "-",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "→": "->",
  "●": "*",
  "○": "o",
  "·": "-",
  "×": "x",
  µ: "u",
};

/** The same in ASCII: for terminals whose locale has nothing else. */
export function toAscii(text: string): string {
  // oxlint-disable-next-line no-control-regex -- ASCII is what is meant.
  return text.replaceAll(/[^\u0000-\u007F]/gu, (character) => PLAIN[character] ?? "?");
}

/** Whether the locale can show more than ASCII: the first of these variables that says something decides (POSIX, section 8.2). */
export function isUnicodeLocale(environment: Readonly<Record<string, string | undefined>>): boolean {
  const locale = [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]].find(
    (value) => value !== undefined && value !== "",
  );
  return locale !== undefined && /utf-?8/i.test(locale);
}
