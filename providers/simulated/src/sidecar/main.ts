#!/usr/bin/env node
import "@cloudwire/node-guard";
import { serveProvider } from "@cloudwire/provider-sdk";
import { formatHelp, parseFlags } from "../options/flags.ts";
import { KeyFileError, keyFromFile } from "./key-file.ts";
import { createSimulatedProvider } from "./provider.ts";
import { type SidecarOptions, sidecarEnvPrefix, sidecarFlags, toSidecarOptions } from "./sidecar-flags.ts";

const usage =
  "Usage: cloudwire-provider-simulated [options]\n\nServes the contract cloudprovider.v1 for a simulated cloud on a Unix socket.";

/** EX_CONFIG, as the SDK ends for what it finds wrong itself. */
const configExitCode = 78;

async function main(): Promise<void> {
  const source = { argv: process.argv.slice(2), env: process.env, envPrefix: sidecarEnvPrefix };
  const parsed = parseFlags(sidecarFlags, source);
  switch (parsed.kind) {
    case "help":
      process.stdout.write(formatHelp(sidecarFlags, sidecarEnvPrefix, usage));
      return;
    case "problem":
      fail([parsed.problem]);
      return;
    case "values": {
      const options = toSidecarOptions(parsed.values);
      if (options.kind === "problems") fail(options.problems);
      else await run(options.options);
      return;
    }
  }
  parsed satisfies never;
}

async function run({ endpoint, cloudUrl, key, callTimeoutMs }: SidecarOptions): Promise<void> {
  try {
    const apiKey = key.kind === "file" ? keyFromFile(key.path, Date.now) : () => key.text;
    const provider = await serveProvider(createSimulatedProvider({ url: cloudUrl, apiKey, callTimeoutMs }), {
      endpoint,
    });
    // One line that a parent process waits for.
    process.stdout.write(`provider ready ${provider.address}\n`);
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    fail([error.message]);
  }
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`cloudwire-provider-simulated: ${problem}\n`);
  process.exitCode = configExitCode;
}

await main();
