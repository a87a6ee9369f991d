import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Starts a correct provider of machines that do not exist, in a process of its own. */
const source = (before: string): string => `
import crypto from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { spawn } from "node:child_process";

const socket = (process.env["CLOUD_PROVIDER_ENDPOINT"] ?? "").replace("unix://", "");
${before}
void [crypto, existsSync, writeFileSync, syncBuiltinESMExports, spawn, socket];
const { absent, serveProvider } = await import("@cloudwire/provider-sdk");
await serveProvider({
  name: "acme.example.com", version: "1.0.0", idPrefix: "acme://", scope: "account-42", check: () => undefined,
  instances: { get: () => absent("LOOKUP_MISS") },
});
`;

/** A provider's program whose first lines a test has written, and the command that runs it. */
export const providerProgram = async (before = "") => {
  // Among what no tool looks at, but inside the package, so that it finds the SDK.
  const parent = join(import.meta.dirname, "..", "..", "dist", ".test");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "provider-"));
  const file = join(folder, "provider.ts");
  await writeFile(file, source(before));
  return {
    command: [process.execPath, "--conditions=development", file],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

/** A provider with a fault in how its process lives. */
export interface ProcessMutant {
  readonly name: string;
  readonly fault: string;
  /** The check that fails on it. */
  readonly fails: string;
  /** What its program does first. */
  readonly before: string;
}

/** One for each check that starts providers. */
export const processMutants: readonly ProcessMutant[] = [
  {
    name: "lock-file",
    fault: "a lock file is made beside the socket",
    fails: "proc.socket.siblings",
    before: 'writeFileSync(socket + ".lock", "");',
  },
  {
    name: "gives-up-gladly",
    fault: "a second process at a socket ends as if all were well",
    fails: "proc.socket.live",
    before: 'process.on("exit", () => { process.exitCode = 0; });',
  },
  {
    name: "exits-with-1",
    fault: "SIGTERM ends it with code 1",
    fails: "proc.term.drain",
    before: 'process.on("SIGTERM", () => process.exit(1));',
  },
  {
    name: "leaves-socket",
    fault: "a socket file stays when it ends",
    fails: "proc.term.unlink",
    before: 'process.on("exit", () => writeFileSync(socket, ""));',
  },
  {
    name: "no-unlink-stale",
    fault: "a socket file that is left over is a reason not to start",
    fails: "proc.kill.recover",
    before: "if (existsSync(socket)) process.exit(1);",
  },
  {
    name: "boot-fixed",
    fault: "boot_id is a constant of the program",
    fails: "info.boot.changes",
    before: 'crypto.randomUUID = () => "11111111-1111-4111-8111-111111111111"; syncBuiltinESMExports();',
  },
];
