#!/usr/bin/env node
// The first file of a shipped program: the right Node, then its settings, then the program itself, which lies beside it.
// Plain JavaScript that any Node version can load, up to the version check.
import "@cloudwire/node-guard";
import { giveBackIdleMemory } from "./idle-memory.mjs";
import { missingSettings } from "./process-settings.mjs";

/** Made by bundle.ts, beside this file's own bundle. */
const PROGRAM = "./program.mjs";

const missing = missingSettings(process);
if (missing !== undefined) {
  // In the place of this process: same process id, same standard streams. It comes back here and finds nothing missing.
  // Where the system has no such call, the program runs without.
  process.execve?.(process.execPath, [process.execPath, ...missing.execArgv, ...process.argv.slice(1)], missing.env);
}
giveBackIdleMemory();
await import(import.meta.resolve(PROGRAM));
