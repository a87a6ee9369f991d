import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { type Measurements, MEASURE_NAMES, type Result } from "./results.ts";
import type { Size } from "../scenarios/scenario.ts";

const GIB = 1024 ** 3;
const SIZES: readonly Size[] = ["nodes", "services", "joining", "steadySeconds"];

/** All results of a benchmark, and the machine. */
export interface ResultsFile {
  readonly machine: string;
  readonly results: readonly Result[];
}

/** A file that cannot be gone on with. */
export class ResultsFileError extends Error {
  readonly code = "RESULTS_FILE";
}

/** The machine and its software. */
export function thisMachine(): string {
  const gib = Math.round(totalmem() / GIB);
  return `${availableParallelism()} × ${cpus()[0]?.model ?? "an unknown processor"}, ${gib} GiB, Node ${process.version}`;
}

/** Nothing has been measured yet where there is no such file. */
export async function readResultsFile(path: string): Promise<ResultsFile | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseResultsFile(path, text);
}

/** Atomic: an interruption loses nothing. */
export async function writeResultsFile(path: string, { machine, results }: ResultsFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify({ machine, results }, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** Results of several machines are nothing to compare. */
export function requireSameMachine(path: string, file: ResultsFile, machine: string): void {
  if (file.machine === machine) return;
  throw new ResultsFileError(
    `--resume ${path}: it was measured on "${file.machine}" and this is "${machine}"; give another --out`,
  );
}

export function parseResultsFile(path: string, text: string): ResultsFile {
  const file = parseJson(path, text);
  const [machine, results] = [field(file, "machine"), field(file, "results")];
  if (typeof machine !== "string" || !Array.isArray(results)) throw foreign(path, "it has no machine or no results");
  return {
    machine,
    results: results.map((result, index) => parseResult(result, () => foreign(path, `result ${index}`))),
  };
}

function parseResult(value: unknown, wrong: () => ResultsFileError): Result {
  const [scenario, peer, round] = [field(value, "scenario"), field(value, "peer"), field(value, "round")];
  if (typeof scenario !== "string" || typeof peer !== "string" || typeof round !== "number") throw wrong();
  const run = { scenario, sizes: numbersOf<Size>(field(value, "sizes"), SIZES), peer, round };
  const [kind, share, reason] = [field(value, "kind"), field(value, "share"), field(value, "reason")];
  const measurements: Measurements = numbersOf(field(value, "measurements"), MEASURE_NAMES);
  if (kind === "measured") return { ...run, kind, measurements };
  if (kind === "projected" && typeof share === "number") return { ...run, kind, share, measurements };
  if (kind === "failed" && typeof reason === "string") return { ...run, kind, reason };
  throw wrong();
}

/** Those of the names that have a number. */
function numbersOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
): Readonly<Partial<Record<Name, number>>> {
  const found: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const number = field(value, name);
    if (typeof number === "number") found[name] = number;
  }
  return found;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw foreign(path, `it is no JSON: ${String(error)}`);
  }
}

function foreign(path: string, what: string): ResultsFileError {
  return new ResultsFileError(`${path} is not a file of this bench (${what}); give another --out or remove it`);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}
