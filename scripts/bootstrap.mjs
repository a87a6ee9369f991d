#!/usr/bin/env node
// The way in from a fresh clone: `npm start`, `npm test`, `npm run check` all come through here on whatever Node npm runs
// on. Installs the locked packages when they are not the ones installed, then runs the task's TypeScript on the pinned
// Node those packages bring. Plain JavaScript without dependencies: nothing else can be relied on yet.
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, markInstalled } from "./lib/installed.mjs";
import { parseVersion, satisfies } from "./node-guard/node-version.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, "node_modules", ".bin");

/**
 * Task name to its script and the arguments that select the part of it.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const TASKS = {
  demo: ["demo/src/main.ts"],
  test: ["scripts/test.ts"],
  "test:all": ["scripts/test.ts", "--all"],
  "test:long": ["scripts/test.ts", "--long"],
  "test:system": ["scripts/test.ts", "--only", "system,system-alone"],
  "test:differential": ["scripts/test.ts", "--only", "differential"],
  "test:parity": ["scripts/test.ts", "--only", "parity"],
  "test:openstack": ["scripts/test.ts", "--only", "openstack"],
  "test:kubelet": ["scripts/test.ts", "--only", "kubelet"],
  soak: ["bench/src/soak/main.ts"],
  bench: ["bench/src/compare/main.ts"],
  "bench:sdk": ["bench/src/sdk/main.ts"],
  conformance: ["scripts/suites/conformance.ts"],
  images: ["deploy/src/image/main.ts"],
  check: ["scripts/check.ts"],
  upstream: ["scripts/upstream.ts"],
};

/** Oldest Node this file itself is written for. */
const BOOTSTRAP_NODE = ">=18";
/** @type {readonly NodeJS.Signals[]} */
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];
const LOG_LINES = 30;
const PROGRESS_EVERY_MS = { terminal: 1_000, log: 15_000 };

/** An error that the user can fix: printed as one line, without a stack. */
class UserError extends Error {}

/**
 * @param {readonly string[]} argv
 * @returns {Promise<number>} the exit code
 */
async function main([task = "", ...args]) {
  const script = TASKS[task];
  if (script === undefined) {
    throw new UserError(`unknown task "${task}"; choose one of: ${Object.keys(TASKS).join(", ")}`);
  }
  if (!satisfies(process.versions.node, BOOTSTRAP_NODE)) {
    throw new UserError(`Node ${process.versions.node} is too old to install the packages; use Node 18 or newer`);
  }
  await install();
  if (interrupted !== undefined) return signalExitCode(interrupted);
  return run(runtime(), ["--conditions=development", ...script, ...args]);
}

async function install() {
  if (isInstalled(ROOT)) return;
  const directory = mkdtempSync(join(tmpdir(), "cloudwire-install-"));
  const logFile = join(directory, "npm-ci.log");
  const code = await withProgress("Installing packages (npm ci)", () => npmCi(logFile));
  if (code !== 0 && interrupted === undefined) {
    const log = readFileSync(logFile, "utf8");
    throw new UserError(`npm ci failed (exit ${code}). What it says, whole log in ${logFile}:\n${failureIn(log)}`);
  }
  rmSync(directory, { recursive: true, force: true });
  if (code === 0) markInstalled(ROOT);
}

/**
 * npm's error from its first line on, which names the cause; the log's end where npm did not get to say one.
 * @param {string} log
 */
function failureIn(log) {
  const lines = log.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.startsWith("npm error"));
  return (first === -1 ? lines.slice(-LOG_LINES) : lines.slice(first, first + LOG_LINES)).join("\n");
}

/**
 * @param {string} logFile
 * @returns {Promise<number>}
 */
function npmCi(logFile) {
  // Under `npm start` npm says where it is; called by hand, the one on PATH has to do.
  const npm = process.env["npm_execpath"];
  const [command, prefix] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  const log = openSync(logFile, "w");
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...prefix, "ci"], { cwd: ROOT, stdio: ["ignore", log, log] });
    child.once("error", (error) => reject(new UserError(`cannot run npm (${error.message}); is it installed?`)));
    child.once("exit", (code, signal) => {
      closeSync(log);
      resolve(signal === null ? (code ?? 1) : signalExitCode(signal));
    });
    forwardSignals(child);
  });
}

/**
 * One line that says what is going on and for how long: rewritten on a terminal, printed now and then elsewhere.
 * @param {string} label
 * @param {() => Promise<number>} work
 */
async function withProgress(label, work) {
  const startedMs = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedMs) / 1_000)} s`;
  const live = process.stdout.isTTY;
  if (!live) console.log(`${label} …`);
  const timer = live
    ? setInterval(() => process.stdout.write(`\r${label} … ${elapsed()}`), PROGRESS_EVERY_MS.terminal)
    : setInterval(() => console.log(`${label} … ${elapsed()}`), PROGRESS_EVERY_MS.log);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    console.log(`${live ? "\r" : ""}${label}: ${elapsed()}`);
  }
}

/**
 * The pinned Node where its package exists for this platform and starts here, else this Node when it is new enough.
 * @returns {string}
 */
function runtime() {
  const wanted = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).engines.node;
  const pinned = join(BIN, "node");
  if (existsSync(pinned)) {
    const probe = spawnSync(pinned, ["--version"], { encoding: "utf8" });
    if (probe.status === 0 && parseVersion(probe.stdout) !== undefined) return pinned;
  }
  if (satisfies(process.versions.node, wanted)) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  throw new UserError(
    `the packages bring no Node that runs on ${platform}, and this is Node ${process.versions.node}; install Node ${wanted} and try again`,
  );
}

/**
 * @param {string} node
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function run(node, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, PATH: [BIN, process.env["PATH"]].join(delimiter) },
    });
    forwardSignals(child);
    child.once("error", (error) => reject(new UserError(`cannot start ${node}: ${error.message}`)));
    child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : signalExitCode(signal)));
  });
}

/** @type {NodeJS.Signals | undefined} */
let interrupted;

/**
 * Stays alive until the child has ended, so that its clean-up is not cut short. On a terminal the child may hear Ctrl-C twice
 * (from the terminal and from here): tasks treat a repeated signal as one request.
 * @param {import("node:child_process").ChildProcess} child
 */
function forwardSignals(child) {
  for (const signal of FORWARDED) {
    const forward = () => {
      interrupted = signal;
      child.kill(signal);
    };
    process.on(signal, forward);
    child.once("exit", () => process.off(signal, forward));
  }
}

/**
 * The shell's convention: 128 plus the signal's number.
 * @param {NodeJS.Signals} signal
 */
function signalExitCode(signal) {
  return 128 + (constants.signals[signal] ?? 0);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`cloudwire: ${error.message}`);
  process.exitCode = 1;
}
