import { createInterface, type Interface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Answers } from "./answers.ts";
import {
  defaultDomain,
  defaultIdPrefix,
  domainProblem,
  idPrefixProblem,
  languageProblem,
  nameProblem,
} from "./choices.ts";
import { languages } from "./language.ts";

/** A terminal to ask on. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}

/**
 * Asks for what is missing, each question until its answer is right; Enter takes the word in brackets. Asks for nothing when name and
 * language are there: they alone have no default. Rejects when the user ends it, with Ctrl-C or Ctrl-D.
 */
export async function askForMissing(answers: Answers, terminal: Terminal, signal: AbortSignal): Promise<Answers> {
  if (answers.name !== undefined && answers.language !== undefined) return answers;
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const lines = createInterface({ ...terminal, terminal: true });
  lines.on("close", () => stop.abort());
  lines.on("SIGINT", () => stop.abort());
  try {
    const ask = (question: Question) => askUntilRight(question, lines, terminal.output, both);
    const name = answers.name ?? (await ask({ text: "Name", problem: nameProblem }));
    const language =
      answers.language ?? (await ask({ text: `Language (${languages.join(", ")})`, problem: languageProblem }));
    const idPrefix =
      answers.idPrefix ??
      (await ask({ text: "Provider IDs begin with", initial: defaultIdPrefix(name), problem: idPrefixProblem }));
    const domain =
      answers.domain ??
      (await ask({ text: "DNS name of the provider", initial: defaultDomain(idPrefix), problem: domainProblem }));
    return { ...answers, name, language, idPrefix, domain };
  } finally {
    lines.close();
  }
}

interface Question {
  readonly text: string;
  /** What Enter alone means. */
  readonly initial?: string;
  readonly problem: (answer: string) => readonly string[];
}

async function askUntilRight(
  { text, initial, problem }: Question,
  lines: Interface,
  output: Writable,
  signal: AbortSignal,
): Promise<string> {
  const prompt = initial === undefined ? `${text}: ` : `${text} [${initial}]: `;
  for (;;) {
    const written = (await lines.question(prompt, { signal })).trim();
    const answer = written === "" ? (initial ?? "") : written;
    const problems = problem(answer);
    if (problems.length === 0) return answer;
    for (const line of problems) output.write(`  ${line}\n`);
  }
}
