#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import process from "node:process";
import { readCommandLine, USAGE } from "./answers.ts";
import { checkAnswers } from "./choices.ts";
import { createProject, placeProblems } from "./create-project.ts";
import { parseLanguage } from "./language.ts";
import { nextSteps } from "./next-steps.ts";
import { askForMissing } from "./prompts.ts";
import { UserError } from "./user-error.ts";

const usageExitCode = 2;
const interruptedExitCode = 130;

async function main(signal: AbortSignal): Promise<void> {
  const line = readCommandLine(process.argv.slice(2));
  switch (line.kind) {
    case "help":
      process.stdout.write(`${USAGE}\n`);
      return;
    case "version":
      process.stdout.write(`${await ownVersion()}\n`);
      return;
    case "create":
      break;
    default:
      line satisfies never;
  }
  const onTerminal = process.stdin.isTTY && process.stdout.isTTY && line.problems.length === 0;
  const answers = onTerminal
    ? await askForMissing(line.answers, { input: process.stdin, output: process.stdout }, signal)
    : line.answers;
  const checked = checkAnswers(answers);
  const cwd = process.cwd();
  if (checked.kind === "wrong" || line.problems.length > 0) {
    const language = parseLanguage(answers.language ?? "");
    const places = await placeProblems({ dir: answers.dir, sdk: answers.sdk, language }, cwd);
    throw new UserError([...line.problems, ...(checked.kind === "wrong" ? checked.problems : []), ...places]);
  }
  await createProject(checked.choices, { cwd, signal });
  process.stdout.write(nextSteps(checked.choices, process.version));
}

async function ownVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
}

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
try {
  await main(stop.signal);
} catch (error) {
  if (error instanceof UserError) {
    for (const problem of error.problems) process.stderr.write(`create-provider: ${problem}\n`);
    process.exitCode = usageExitCode;
  } else if (error instanceof Error && error.name === "AbortError") {
    process.stderr.write("\ncreate-provider: ended; nothing was made\n");
    process.exitCode = interruptedExitCode;
  } else throw error;
}
