import type { Language } from "./language.ts";
import type { Choices } from "./choices.ts";

const commands: Readonly<Record<Language, readonly string[]>> = {
  typescript: ["npm install", "npm test", "npm run conformance"],
  go: ["go mod tidy", "go test ./...", "sh conformance.sh"],
  python: [
    "python3 -m venv .venv",
    ".venv/bin/pip install -r requirements-dev.txt",
    ".venv/bin/pytest",
    "sh conformance.sh",
  ],
};

/** What to type next, for people. */
export function nextSteps({ dir, language }: Choices): string {
  const lines = [`cd ${dir}`, ...commands[language]].map((line) => `  ${line}\n`);
  return `\n${dir} is ready. Next:\n\n${lines.join("")}\nIts README.md says where your cloud goes.\n`;
}
