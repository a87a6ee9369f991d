import { type KitRun, runKit } from "./run-kit.ts";
import type { Subject } from "./subject.ts";

/** Runs wait more than they compute. */
const AT_ONCE = 4;

/** Runs the kit on each, a few at once; answers the runs by name. */
export async function runAll(
  subjects: readonly Subject[],
  ended: (subject: Subject, run: KitRun, elapsedMs: number) => void = () => undefined,
): Promise<ReadonlyMap<string, KitRun>> {
  const runs = new Map<string, KitRun>();
  const waiting = [...subjects];
  const worker = async (): Promise<void> => {
    for (let subject = waiting.shift(); subject !== undefined; subject = waiting.shift()) {
      const startedMs = performance.now();
      const run = await runKit(subject);
      runs.set(subject.name, run);
      ended(subject, run, performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return runs;
}
