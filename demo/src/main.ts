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
  const isStopRequested = endOnSignal(end);
  const directory = mkdtempSync(join(tmpdir(), "cloudwire-demo-"));
  const pools = await takeSlot();
  const running: Running = { processes: [], tasks: [] };
  screen.print(paint.bold("Cloudwire demo: everything runs on this machine. Press Ctrl-C to stop.\n"));
  const startedMs = performance.now();
  let failure: unknown;
  try {
    const demo = await startDemo({ directory, pools, nodes, screen, paint, now: () => new Date(), end }, running);
    await whenReady(demo, once, startedMs, end.signal);
  } catch (error) {
    if (!isStopRequested()) failure = end.signal.aborted ? end.signal.reason : error;
  }
  end.abort();
  await endDemo(running);
  pools.release();
  if (failure !== undefined) {
    console.error(`\n${paint.red("The demo failed:")} ${messageOf(failure)}\nThe logs are in ${directory}`);
    return 1;
  }
  rmSync(directory, { recursive: true, force: true });
  screen.print(once ? "" : "\nAll processes stopped, all files deleted.");
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

/** Stops the demo cleanly on a signal or when the terminal closes. Returns a function that reports whether that happened. */
function endOnSignal(end: AbortController): () => boolean {
  let isRequested = false;
  const onEnd = (): void => {
    if (!isRequested) screen.print("\nStopping …");
    isRequested = true;
    end.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onEnd);
  // Writes to a closed terminal or pipe fail.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", onEnd);
  return () => isRequested;
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
