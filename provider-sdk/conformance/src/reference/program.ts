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
  const directory = await mkdtemp(join(parent, "provider-"));
  const file = join(directory, "provider.ts");
  await writeFile(file, source(before));
  return {
    command: [process.execPath, "--conditions=development", file],
    remove: () => rm(directory, { recursive: true, force: true }),
  };
};
