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

export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

export interface TableOptions {
  readonly columns: number | undefined;
  readonly indent?: number;
  /** Numbers of columns whose text stands at the right. */
  readonly right?: readonly number[];
}

const GAP = "  ";

/** Narrower text is unreadable and moves to separate lines. */
const NARROWEST = 36;
const OWN_LINE_INDENT = 4;

/** Rows of cells under each other; the last column is wrapped, the others are as wide as they need. All rows have as many cells. */
export function table(rows: readonly (readonly Cell[])[], options: TableOptions): readonly string[] {
  const { columns, indent = 0, right = [] } = options;
  const count = rows[0]?.length ?? 0;
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map((row) => row[index]?.text.length ?? 0)),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, indent);
  const lastWidth = widths.at(-1) ?? 0;
  const isTight = columns !== undefined && before + lastWidth > columns && columns - before < NARROWEST;
  const start = isTight ? indent + OWN_LINE_INDENT : before;
  return rows.flatMap((row) => {
    const fixed = row.slice(0, -1).map(({ text, paint = same }, index) => {
      const space = " ".repeat((widths[index] ?? 0) - text.length);
      return right.includes(index) ? `${space}${paint(text)}` : `${paint(text)}${space}`;
    });
    const { text = "", paint = same } = row.at(-1) ?? {};
    const aligned = right.includes(count - 1) ? text.padStart(lastWidth) : text;
    const last = wrap(aligned, columns, start).map((line) => paint(line));
    const head = isTight ? fixed : [...fixed, last[0] ?? ""];
    const below = isTight ? last.filter((line) => line !== "") : last.slice(1);
    return [`${" ".repeat(indent)}${head.join(GAP)}`.trimEnd(), ...below.map((line) => `${" ".repeat(start)}${line}`)];
  });
}

function same(text: string): string {
  return text;
}
