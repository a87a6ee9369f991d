/** What became of one fault that was put into a file. */
export interface Mutant {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** The lines it touches without and with it, spaces folded. */
  readonly before: string;
  readonly after: string;
  /** The whole file with it. */
  readonly text: string;
  readonly noticed: boolean;
}

/** A fault that no test notices, looked at by someone. */
export interface Reviewed {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** Why no test could or should notice it. */
  readonly why: string;
}

export interface Score {
  readonly noticed: number;
  readonly all: number;
}

export interface MutationResult {
  readonly byFile: ReadonlyMap<string, Score>;
  readonly total: Score;
  /** Survivors that no one has looked at. */
  readonly unseen: readonly Mutant[];
  /** Entries that match no survivor any more. */
  readonly stale: readonly Reviewed[];
  readonly passed: boolean;
}

/** The part of Stryker's JSON report that counts here (mutation-testing-report-schema 2). */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly StrykerMutant[] }>>;
}

interface StrykerMutant {
  readonly status: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** 1-based; the end is behind the last character. */
interface Position {
  readonly line: number;
  readonly column: number;
}

const NOTICED: ReadonlySet<string> = new Set(["Killed", "Timeout", "RuntimeError"]);
const UNNOTICED: ReadonlySet<string> = new Set(["Survived", "NoCoverage"]);

export function mutantsOf({ files }: StrykerReport): readonly Mutant[] {
  return Object.entries(files).flatMap(([path, { source, mutants }]) => {
    const lines = source.split("\n");
    return mutants
      .filter(({ status }) => NOTICED.has(status) || UNNOTICED.has(status))
      .map((mutant) => mutantOf(path, lines, mutant));
  });
}

function mutantOf(
  path: string,
  lines: readonly string[],
  { status, replacement = "", location }: StrykerMutant,
): Mutant {
  const { start, end } = location;
  const touched = lines.slice(start.line - 1, end.line);
  const head = (touched[0] ?? "").slice(0, start.column - 1);
  const tail = (touched.at(-1) ?? "").slice(end.column - 1);
  return {
    path,
    line: start.line,
    before: folded(touched.join("\n")),
    after: folded(head + replacement + tail),
    text: [...lines.slice(0, start.line - 1), head + replacement + tail, ...lines.slice(end.line)].join("\n"),
    noticed: NOTICED.has(status),
  };
}

const folded = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Reviewed survivors still count as unnoticed: the score says what the tests do, the list that someone looked. */
export function evaluate(
  mutants: readonly Mutant[],
  reviewed: readonly Reviewed[],
  minPercent: number,
): MutationResult {
  const paths = [...new Set(mutants.map(({ path }) => path))].toSorted();
  const byFile = new Map(paths.map((path) => [path, scoreOf(mutants.filter((mutant) => mutant.path === path))]));
  const total = scoreOf(mutants);
  const survivors = mutants.filter(({ noticed }) => !noticed);
  const unseen = survivors.filter((mutant) => !reviewed.some((entry) => isSame(entry, mutant)));
  const stale = reviewed.filter(
    (entry) => byFile.has(entry.path) && !survivors.some((mutant) => isSame(entry, mutant)),
  );
  const passed = percent(total) >= minPercent && unseen.length === 0 && stale.length === 0;
  return { byFile, total, unseen, stale, passed };
}

function scoreOf(mutants: readonly Mutant[]): Score {
  return { noticed: mutants.filter(({ noticed }) => noticed).length, all: mutants.length };
}

function isSame(entry: Reviewed, mutant: Mutant): boolean {
  return entry.path === mutant.path && entry.before === mutant.before && entry.after === mutant.after;
}

/** Of nothing, all is noticed. */
export function percent({ noticed, all }: Score): number {
  return all === 0 ? 100 : (noticed * 100) / all;
}
