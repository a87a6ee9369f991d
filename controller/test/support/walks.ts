/** The files that process an object, and their lists in the architecture page. */
import { posix } from "node:path";
import type { CallCounts } from "./walked-program.ts";

export const WALKS = ["node", "service", "guard"] as const;
export type Walk = (typeof WALKS)[number];

/** Where the walks are listed, below the checkout's top. */
export const WALKS_PAGE = "docs/explanation/architecture.md";

/** What runs with every object and is not on its way. Of `file#function@offset`, the file below controller/src. */
const OMITTED: readonly { readonly why: string; readonly calls: RegExp }[] = [
  { why: "it helps with single values", calls: /^(?:util|api)\/|^provider\/convert\/(?:scalars|time)\.ts#/ },
  { why: "it puts the others together", calls: /^(?:main\.ts|app\/)/ },
  { why: "it gives the values of flags", calls: /^options\/|^[^#]*\boptions\.ts#/ },
  { why: "it is log, metrics or traces", calls: /^telemetry\/|^[^#]*\bmetrics\.ts#|^runtime\/reconcile-span\.ts#/ },
  {
    why: "it is history, for those who ask later",
    calls:
      /^explain\/|^runtime\/(?:history|failure-counts)\.ts#|^observe\/work\.ts#|^provider\/observers\/call-subjects\.ts#/,
  },
  // It gets neither the object nor what is made for it.
  { why: "it is a getter", calls: /#get / },
  {
    why: "it knows the other side, and is only asked whether the object may go on",
    calls:
      /^provider\/(?:providers|model\/provider|connection\/(?:connection|state|scope-guard))\.ts#|^provider\/sidecar\.ts#admit@|^kube\/(?:cluster|connection\/kubeconfig)\.ts#/,
  },
];

/** Where the way of an object leads; other controllers look at the same object for their own ends. */
const CONTROLLERS: Readonly<Record<Walk, RegExp>> = {
  node: /^controllers\/node\//,
  service: /^controllers\/service\//,
  guard: /^controllers\/node-lifecycle\//,
};

/** Files on the way, below controller/src: those of which a function was called for each of `objects`, beyond what runs in idleness. */
export function filesOf(
  walk: Walk,
  counts: CallCounts,
  idle: readonly CallCounts[],
  objects: number,
): readonly string[] {
  const files = new Set<string>();
  for (const [called, count] of counts) {
    const idly = Math.max(0, ...idle.map((window) => window.get(called) ?? 0));
    if (count - idly < objects || OMITTED.some(({ calls }) => calls.test(called))) continue;
    const [file = ""] = called.split("#");
    if (isOnWay(walk, file)) files.add(file);
  }
  return [...files].toSorted();
}

function isOnWay(walk: Walk, file: string): boolean {
  // What leads to the guard is the way of a Node: its list is what decides, and what outlives the process.
  if (walk === "guard") return CONTROLLERS.guard.test(file) || file === "leadership/lease-annotations.ts";
  return !file.startsWith("controllers/") || CONTROLLERS[walk].test(file);
}

/** A file of a list, and what it does there. */
export interface Stop {
  readonly file: string;
  readonly phrase: string;
}

/** The list that the page has of a walk, between its markers. */
export function listedStops(page: string, walk: Walk): readonly Stop[] {
  return [...listText(page, walk).matchAll(/^\d+\. `([^`]+)`: (.+)$/gm)].map(([, file = "", phrase = ""]) => ({
    file,
    phrase,
  }));
}

/**
 * The page with these files in the list of a walk. A file keeps its place and its phrase, also where it has moved under its name;
 * a new one stands behind the others of its directory, with what it says of itself.
 */
export function withStops(
  page: string,
  walk: Walk,
  files: readonly string[],
  aboutFile: (file: string) => string,
): string {
  const added = new Set(files);
  const stops: Stop[] = [];
  for (const stop of listedStops(page, walk)) {
    const file = added.has(stop.file) ? stop.file : movedTo(stop.file, files, page, walk);
    if (file !== undefined && added.delete(file)) stops.push({ ...stop, file });
  }
  for (const file of added) {
    const behind = stops.findLastIndex((stop) => posix.dirname(stop.file) === posix.dirname(file));
    stops.splice(behind === -1 ? stops.length : behind + 1, 0, { file, phrase: aboutFile(file) });
  }
  const lines = stops.map(({ file, phrase }, index) => `${index + 1}. \`${file}\`: ${phrase}\n`);
  return page.replace(listPattern(walk), (_list, begin: string) => `${begin}\n${lines.join("")}\n<!-- /walk -->`);
}

/** A file of the same name that the list does not have yet. */
function movedTo(file: string, files: readonly string[], page: string, walk: Walk): string | undefined {
  const listed = listedStops(page, walk).map((stop) => stop.file);
  return files.find((other) => posix.basename(other) === posix.basename(file) && !listed.includes(other));
}

function listText(page: string, walk: Walk): string {
  const text = listPattern(walk).exec(page)?.[2];
  if (text === undefined) throw new Error(`${WALKS_PAGE} has no list of the walk "${walk}"`);
  return text;
}

function listPattern(walk: Walk): RegExp {
  return new RegExp(`(<!-- walk: ${walk} -->\n)([^]*?)<!-- /walk -->`);
}

/** The first sentence that a source says of its first function or class, to begin a phrase with. */
export function firstSentence(source: string): string {
  const described = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*export (?:async )?(?:function|class) /.exec(source)?.[1] ?? "";
  const text = described
    .replaceAll(/\n\s*\*/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const sentence = /^(.*?)(?:[.:;](?: |$)|$)/.exec(text)?.[1] ?? "";
  return sentence === "" ? "see there" : sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
