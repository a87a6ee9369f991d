// `npm start`: a cluster, a cloud, its provider and the controller on this machine, until Ctrl-C.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Demo, endDemo, type Running, startDemo } from "./demo.ts";
import { isUsageError, parseOptions, USAGE } from "./options.ts";
import { paintFor } from "./paint.ts";
import { createScreen } from "./screen.ts";
import { takeSlot } from "./processes/slot.ts";
import { verify } from "./verify.ts";

const EXIT_USAGE = 2;

const paint = paintFor(process.env, process.stdout.isTTY);
const screen = createScreen({ write: (text) => process.stdout.write(text), paint, nowMs: () => performance.now() });

async function main(): Promise<number> {
  const { nodes, once, help } = parseOptions(process.argv.slice(2));
  if (help) {
    screen.print(USAGE);
    return 0;
  }
  const end = new AbortController();
  const wanted = endOnSignal(end);
  const folder = mkdtempSync(join(tmpdir(), "cloudwire-demo-"));
  const pools = await takeSlot();
  const running: Running = { processes: [], tasks: [] };
  screen.print(paint.bold("Cloudwire demo: all of it runs on this machine and ends with Ctrl-C.\n"));
  const startedMs = performance.now();
  let fault: unknown;
  try {
    const demo = await startDemo({ folder, pools, nodes, screen, paint, now: () => new Date(), end }, running);
    await whenReady(demo, once, startedMs, end.signal);
  } catch (error) {
    if (!wanted()) fault = end.signal.aborted ? end.signal.reason : error;
  }
  end.abort();
  await endDemo(running);
  pools.release();
  if (fault !== undefined) {
    console.error(`\n${paint.red("The demo failed:")} ${messageOf(fault)}\nThe logs are in ${folder}`);
    return 1;
  }
  rmSync(folder, { recursive: true, force: true });
  screen.print(once ? "" : "\nEverything has ended, nothing is left behind.");
  return 0;
}

async function whenReady(demo: Demo, once: boolean, startedMs: number, signal: AbortSignal): Promise<void> {
  screen.print(paint.bold(paint.green(`\nReady after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s.\n`)));
  if (once) return verify(demo, screen);
  screen.print(`${demo.guide()}\n`);
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

/** A signal, once or repeatedly, ends the demo in order, and so does a terminal that is gone; answers whether one came. */
function endOnSignal(end: AbortController): () => boolean {
  let came = false;
  const onEnd = (): void => {
    if (!came) screen.print("\nEnding …");
    came = true;
    end.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onEnd);
  // Writing to a closed terminal or pipe fails from then on: there is nobody left to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", onEnd);
  return () => came;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!isUsageError(error)) throw error;
  console.error(`npm start: ${error.message}`);
  process.exitCode = EXIT_USAGE;
}
