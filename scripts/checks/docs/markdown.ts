/** A link of a page: where it leads and where it stands. */
export interface Link {
  readonly target: string;
  readonly line: number;
}

/** A fenced block: `language` and `words` are its first line, split at blanks. */
export interface Fence {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
  readonly line: number;
}

export interface Page {
  readonly links: readonly Link[];
  readonly fences: readonly Fence[];
  /** What a link may name behind its `#`, as GitHub makes it of the headings. */
  readonly anchors: ReadonlySet<string>;
}

/** Reads what the docs check needs of a Markdown page. */
export function parsePage(markdown: string): Page {
  const links: Link[] = [];
  const fences: Fence[] = [];
  const anchors = new Set<string>();
  let open:
    | { readonly mark: string; readonly info: string; readonly line: number; readonly lines: string[] }
    | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^ {0,3}(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (open !== undefined) {
      if (fence?.[1]?.startsWith(open.mark) === true && fence[2] === "") {
        const [language = "", ...words] = open.info.split(/\s+/);
        fences.push({ language, words, text: `${open.lines.join("\n")}\n`, line: open.line });
        open = undefined;
      } else open.lines.push(line);
    } else if (fence !== null) {
      open = { mark: fence[1] ?? "", info: (fence[2] ?? "").trim(), line: index + 1, lines: [] };
    } else {
      addAnchors(anchors, line);
      links.push(...linksOf(line, index + 1));
    }
  }
  return { links, fences, anchors };
}

function addAnchors(anchors: Set<string>, line: string): void {
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
  if (heading !== undefined) {
    const base = slug(heading);
    // A heading that stands twice gets -1, -2, … the second time on.
    let anchor = base;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`;
    anchors.add(anchor);
  }
  for (const match of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(match[1] ?? "");
}

/** GitHub's rule: lower case, punctuation dropped, blanks to hyphens. */
function slug(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

function linksOf(line: string, at: number): readonly Link[] {
  const prose = line.replaceAll(/`[^`]*`/g, (code) => " ".repeat(code.length));
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const reference = [...prose.matchAll(/^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$/g)];
  return [...inline, ...reference].map((match) => ({ target: match[1] ?? "", line: at }));
}
