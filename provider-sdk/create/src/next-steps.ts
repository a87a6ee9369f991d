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

/** The commands to run next, for the user. */
export function nextSteps({ dir, language }: Choices, nodeVersion: string): string {
  const lines = [`cd ${dir}`, ...commands[language]].map((line) => `  ${line}\n`);
  const node = `npm${language === "typescript" ? "" : ", which brings the conformance kit,"} has to run on Node 24 (24.21 or newer); here it is ${nodeVersion}`;
  const older = isOlder(nodeVersion, [24, 21]) ? `${node}.\n` : "";
  return `\n${dir} is ready. Next:\n\n${lines.join("")}\n${older}Its README.md says where your cloud goes.\n`;
}

/** Whether a version such as `v20.12.0` is older than major and minor. */
function isOlder(version: string, [wantedMajor, wantedMinor]: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version.replace("v", "").split(".").map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
