import { type Inventory, inventoryOf, type Kind, KINDS } from "./inventory.ts";
import type { GoFile } from "./go-source.ts";
import type { IsKnown } from "./known.ts";
import type { Upstream } from "./modules.ts";

export interface Change {
  readonly kind: Kind;
  readonly name: string;
  /** undefined: upstream did not have it. */
  readonly before: string | undefined;
  /** undefined: upstream no longer has it. */
  readonly after: string | undefined;
}

export function changesOf(from: Inventory, to: Inventory): readonly Change[] {
  return KINDS.flatMap((kind) =>
    [...new Set([...from[kind].keys(), ...to[kind].keys()])]
      .toSorted()
      .map((name) => ({ kind, name, before: from[kind].get(name), after: to[kind].get(name) }))
      .filter(({ before, after }) => before !== after),
  );
}

/** Directories with the behavior that the parity suite compares. */
const BEHAVIOR = /^(?:cloud-provider\/(?:app|controllers|node|service)\/|kubernetes\/pkg\/controller\/nodeipam\/)/;

/** Sources with behavior, with the number of lines that were removed and added. */
export function changedSources(from: readonly GoFile[], to: readonly GoFile[]): readonly string[] {
  const [before, after] = [from, to].map((files) => new Map(files.map(({ path, text }) => [path, text] as const)));
  const paths = [...new Set([...from, ...to].map(({ path }) => path))].filter((path) => BEHAVIOR.test(path));
  return paths.toSorted().flatMap((path) => {
    const [left, right] = [before?.get(path), after?.get(path)].map((text) => (text ?? "").split("\n"));
    const [removed, added] = [extra(left, right), extra(right, left)];
    return removed + added === 0 ? [] : [`${path} -${removed} +${added}`];
  });
}

/** Lines of `lines` that `others` has less often. */
function extra(lines: readonly string[] = [], others: readonly string[] = []): number {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  }).length;
}

export function report(from: Upstream, to: Upstream, isKnown: IsKnown): string {
  const changes = changesOf(inventoryOf(from.files), inventoryOf(to.files));
  const missing = [...from.missing, ...to.missing];
  const sections = [
    section("not served by the Go module proxy, not compared", missing),
    ...KINDS.map((kind) =>
      section(
        kind,
        changes.filter((change) => change.kind === kind).flatMap((change) => linesOf(change, isKnown)),
      ),
    ),
    section("behavior: changed sources, to be compared by the parity suite", changedSources(from.files, to.files)),
    section("next steps", stepsFor(to)),
  ];
  return [`upstream ${from.version} to ${to.version}`, ...sections].join("\n\n");
}

function section(title: string, lines: readonly string[]): string {
  return [`${title}:`, ...(lines.length === 0 ? ["none"] : lines).map((line) => `  ${line}`)].join("\n");
}

function linesOf({ kind, name, before, after }: Change, isKnown: IsKnown): readonly string[] {
  const known = isKnown(kind, name);
  const status = known === undefined ? "" : known ? " [known here]" : " [UNKNOWN HERE]";
  if (before === undefined) return [`+ ${name}${suffix(after)}${status}`];
  if (after === undefined) return [`- ${name}${suffix(before)}${status}`];
  return [`~ ${name}${status}`, `    before: ${before}`, `    after:  ${after}`];
}

function suffix(details: string | undefined): string {
  return details === undefined || details === "" ? "" : `: ${details}`;
}

function stepsFor({ version }: Upstream): readonly string[] {
  return [
    `npm run modfile -w @cloudwire/test -- ${version.replace("v0.", "1.")}   compares with this version from now on`,
    "npm run flags -w @cloudwire/test              reads the flags of its binary; then npm run gen",
    "CLOUDWIRE_WRITE_METRICS=1 node_modules/.bin/vitest run --project parity test/suites/telemetry   reads its metrics",
    "npm run test:parity                           compares flags, metrics and behavior; its failures are the work to do",
    "docs/explanation/differences-from-upstream.md rows and their versions",
  ];
}
