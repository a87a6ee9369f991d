// `npm test`: unit and component tests, and one of the programs together: minutes, on any machine with Node.
//   npm run test:all               every suite but the long ones; so does `CI=true npm test`
//   npm run test:long              those that are too long for CI; its results are recorded for `npm run check` to show
//   npm test -- --only system      one suite, or several: --only unit,component
// In CI (CI=true), or with CLOUDWIRE_NO_SKIP=1, a suite that cannot run is a failure. The last line is for machines:
// "N passed, N failed, N skipped".
import process from "node:process";
import { buildAhead } from "./suites/build-ahead.ts";
import { addTallies, NO_TESTS, type Tally } from "./suites/test-summary.ts";
import { createPaint, formatDuration, wantsColor } from "./lib/terminal.ts";
import { failOnUserError } from "./lib/user-error.ts";
import { sayWhileWaiting } from "./lib/waiting.ts";
import { type Batch, BATCHES, stagesOf } from "./suites/batches.ts";
import { currentCommit, longRun, programVersions, recordLongRun } from "./suites/long-runs.ts";
import { type Selection, selectSuites } from "./suites/selection.ts";

const paint = createPaint(wantsColor(process.env, process.stdout.isTTY));

async function main(): Promise<number> {
  const selection = selectSuites(process.argv.slice(2), process.env, BATCHES);
  const startedMs = performance.now();
  const commit = selection.isRecorded ? await currentCommit() : "";
  let total = NO_TESTS;
  for (const stage of stagesOf(BATCHES, selection.suites)) {
    for (const result of await runStage(stage, selection)) {
      total = addTallies(total, result.tally);
      if (selection.isRecorded) {
        const { suites, programs, tally } = result;
        await recordLongRun(longRun({ suite: suites.join(", "), commit, now: new Date(), programs }, tally));
      }
    }
  }
  for (const remark of total.remarks) console.log(paint.yellow(remark));
  for (const { suites, command } of selection.leftOut)
    console.log(`\nLeft out: ${suites.join(", ")}. To run them: ${paint.cyan(command)}`);
  console.log(
    `\nTests took ${formatDuration(performance.now() - startedMs)}. A suite that could not run counts as one test.`,
  );
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

interface BatchResult {
  readonly suites: readonly string[];
  readonly programs: readonly string[];
  readonly tally: Tally;
}

/** Prepares the batches one after the other, since several build the same programs, and starts each as soon as it is prepared. */
async function runStage(stage: readonly Batch[], selection: Selection): Promise<readonly BatchResult[]> {
  const runs: Promise<BatchResult>[] = [];
  for (const batch of stage) {
    const suites = batch.suites.filter((suite) => selection.suites.includes(suite));
    // At the lowest priority, since the tests of the batch before it run meanwhile.
    if (runs.length > 0) await buildAhead(suites);
    const missing = await sayWhileWaiting(`preparing ${suites.join(", ")}`, batch.prepare);
    const programs = missing === undefined ? await programVersions(batch.programs ?? []) : [];
    runs.push(
      missing === undefined
        ? runBatch(batch, suites, selection).then((tally) => ({ suites, programs, tally }))
        : Promise.resolve({ suites, programs, tally: unableToRun(suites, missing, selection) }),
    );
  }
  return await Promise.all(runs);
}

async function runBatch(batch: Batch, suites: readonly string[], selection: Selection): Promise<Tally> {
  const startedMs = performance.now();
  const ahead = batch.leavesTime === true ? buildAhead(selection.suites) : undefined;
  const tally = await batch.work(suites);
  await ahead;
  console.log(`\n${suites.join(", ")} took ${formatDuration(performance.now() - startedMs)}`);
  return tally;
}

function unableToRun(suites: readonly string[], missing: string, { mustRunAll }: Selection): Tally {
  const remark = `${mustRunAll ? "FAILED, could not run" : "SKIPPED"} ${suites.join(", ")}: ${missing}`;
  console.log(mustRunAll ? paint.red(`\n${remark}`) : paint.yellow(`\n${remark}`));
  return { ...NO_TESTS, [mustRunAll ? "failed" : "skipped"]: suites.length, remarks: [remark] };
}

await failOnUserError("test", main);
