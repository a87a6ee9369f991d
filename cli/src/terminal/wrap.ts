/** Words of a text in lines of at most `columns` characters, further ones under the first; a word that is longer stays whole. */
export function wrap(text: string, columns: number | undefined, indent = 0): readonly string[] {
  if (columns === undefined) return [text];
  const limit = Math.max(columns - indent, 20);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    if (line === undefined) line = word;
    else if (line.length + 1 + word.length <= limit) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return line === undefined ? lines : [...lines, line];
}

/** The text behind a label, further lines under its beginning. */
export function hanging(label: string, text: string, columns: number | undefined): string {
  const [first = "", ...others] = text.split("\n").flatMap((line) => wrap(line, columns, label.length));
  return [`${label}${first}`, ...others.map((line) => `${" ".repeat(label.length)}${line}`)].join("\n");
}
