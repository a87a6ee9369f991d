import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { UsageError } from "../errors.ts";
import { cleanUpAfter } from "../suite/clean-up.ts";
import { findCreatedResources, type LeftResources, createdResourcesAt } from "../suite/created-resources-file.ts";
import type { CreatedResource } from "../suite/created-resources.ts";
import { undoAll } from "../suite/run-hook.ts";
import { reach } from "../endpoint/reach.ts";
import type { Arguments } from "../cli/arguments.ts";
import { readConfig } from "../cli/config.ts";
import { exitCodes, type ProgramDeps } from "../cli/program-deps.ts";
import { withTarget } from "../cli/target.ts";

/** What one run has left: by its list, by its ownership tag in the cloud, or both. */
interface Work {
  readonly runId: string | undefined;
  readonly entries: readonly CreatedResource[];
  /** Its list's file. */
  readonly path?: string;
}

/** Removes what runs have left: of the list that is named, of the run that is named, or of all that are old enough. */
export const runCleanup = async (args: Arguments, deps: ProgramDeps): Promise<number> => {
  const works = await worksOf(args);
  if (works.length === 0) {
    deps.out("no run has left a list that is old enough\n");
    return exitCodes.passed;
  }
  let isClean = true;
  for (const work of works) isClean = (await undone(work, args, patienceOf(args, deps), deps)) && isClean;
  if (!isClean) return exitCodes.notClean;
  // Without resources in the cloud the provider is not needed, and it may not get ready while the cloud is broken.
  const atCloud = works.filter(
    ({ path, entries }) => path === undefined || entries.some(({ kind }) => kind !== "hook"),
  );
  for (const work of works.filter((one) => !atCloud.includes(one))) await cleaned(work, 0, deps);
  if (atCloud.length === 0) return exitCodes.passed;
  return withTarget(args, deps, async ({ parsed }) => {
    const info = await reach(parsed, args.startTimeoutMs, deps.signal);
    for (const work of atCloud) {
      const { removed, left } = await cleanUpAfter(work, parsed, info, patienceOf(args, deps));
      if (left.length > 0) deps.err(leftLines(left, againFor(work)));
      else await cleaned(work, removed, deps);
      isClean = isClean && left.length === 0;
    }
    return isClean ? exitCodes.passed : exitCodes.notClean;
  });
};

/** As long as the cleanup after one run may take. */
const patienceOf = ({ cleanUpTimeoutMs, slowFactor }: Arguments, { signal }: ProgramDeps): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(cleanUpTimeoutMs * slowFactor))]);

/** What is still in the cloud, and what to do about it. */
export const leftLines = (left: readonly string[], words: string): string =>
  `still in the cloud:\n${left.map((line) => `  ${line}\n`).join("")}to try again: cloudwire-conformance cleanup ${words}, with the same provider\n`;

const againFor = ({ path, runId = "" }: Work): string => path ?? `--run-id ${runId}`;

const worksOf = async ({ words, runId, allOlderThanMs }: Arguments): Promise<readonly Work[]> => {
  const nowMs = Date.now();
  if (runId !== undefined && allOlderThanMs !== undefined)
    throw new UsageError("give either --run-id or --all-older-than: one run, or all that are old");
  if (runId === undefined && allOlderThanMs === undefined) return [await named(words, nowMs)];
  const lists = await findCreatedResources(words.length > 0 ? words : [tmpdir()], nowMs);
  if (allOlderThanMs !== undefined) return lists.filter(({ ageMs }) => ageMs > allOlderThanMs);
  const ofRun = lists.filter((resources) => resources.runId === runId);
  return ofRun.length > 0 ? ofRun : [{ runId, entries: [] }];
};

/** The list of a file that the user names. */
const named = async ([path, ...others]: readonly string[], nowMs: number): Promise<LeftResources> => {
  if (path === undefined || others.length > 0)
    throw new UsageError(
      "clean up after which run? Give the one resources.jsonl that it left, in its --report directory, or --run-id, or --all-older-than",
    );
  const resources = await createdResourcesAt(path, nowMs);
  if (resources === undefined) throw new UsageError(`there is no ${path}: a run that leaves nothing leaves no list`);
  return resources;
};

/** Whether all that actions have done to the cloud is undone: first of all, for without the cloud nothing else can be. */
const undone = async (
  work: Work,
  { config }: Arguments,
  patience: AbortSignal,
  deps: ProgramDeps,
): Promise<boolean> => {
  const left = await undoAll(work.entries, (await readConfig(config)).hooks ?? {}, patience);
  if (left.length > 0) deps.err(leftLines(left, `${againFor(work)} --config <the run's configuration>`));
  return left.length === 0;
};

const cleaned = async ({ path, runId, entries }: Work, removed: number, deps: ProgramDeps): Promise<void> => {
  if (path === undefined)
    return deps.out(`${removed} resources with the ownership tag of run ${runId ?? ""} are removed; none is left\n`);
  await rm(path);
  deps.out(`nothing is left of the ${entries.length} things in ${path}, which is removed, too\n`);
};
