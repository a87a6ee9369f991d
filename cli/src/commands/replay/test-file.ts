import { dirname, relative } from "node:path";

export interface TestFileOptions {
  /** Where the test is written. */
  readonly path: string;
  /** The recording. */
  readonly recording: string;
  /** How the provider is started. */
  readonly command: string;
  /** Further arguments of the replay. */
  readonly args: readonly string[];
}

/** Endings of files that can be written. */
export const TEST_ENDINGS = [".sh", ".test.ts", ".test.mts", ".test.js", ".test.mjs"];

/** A test that plays the recording against the provider: for a shell, or for vitest, by the name of the file. */
export function testFile(options: TestFileOptions): string {
  return options.path.endsWith(".sh") ? shellTest(options) : vitestTest(options);
}

function shellTest({ path, recording, command, args }: TestFileOptions): string {
  const shown = [`"$(dirname "$0")"/${quoted(beside(path, recording))}`, ...args.map(quoted)].join(" ");
  return `#!/bin/sh
# Replays a recording against the provider and fails if a response differs. Written by cloudwire replay --write-test.
# CLOUDWIRE: path of the program if it is not in PATH. PROVIDER: another command to start the provider.
set -eu
PROVIDER=\${PROVIDER:-${quoted(command)}}
exec "\${CLOUDWIRE:-cloudwire}" replay ${shown} --start "$PROVIDER"
`;
}

function vitestTest({ path, recording, command, args }: TestFileOptions): string {
  return `// Replays a recording against the provider and fails if a response differs. Written by cloudwire replay --write-test.
// CLOUDWIRE: path of the program if it is not in PATH. PROVIDER: another command to start the provider.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const recording = fileURLToPath(new URL(${JSON.stringify(`./${beside(path, recording)}`)}, import.meta.url));
const provider = process.env["PROVIDER"] ?? ${JSON.stringify(command)};
const args = ["replay", recording, "--start", provider, ...${JSON.stringify(args)}];

test(${JSON.stringify(`the provider responds as in ${beside(path, recording)}`)}, { timeout: 300_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.env["CLOUDWIRE"] ?? "cloudwire", args, { encoding: "utf8" });
  expect(status, \`\${stdout}\${stderr}\`).toBe(0);
});
`;
}

function beside(path: string, recording: string): string {
  return relative(dirname(path), recording);
}

/** One word of a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
