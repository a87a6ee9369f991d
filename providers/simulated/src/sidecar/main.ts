#!/usr/bin/env node
import "@cloudwire/node-guard";
import { serveProvider } from "@cloudwire/provider-sdk";
import { runProgram } from "../options/program.ts";
import { KeyFileError, keyFromFile } from "./key-file.ts";
import { createSimulatedProvider } from "./provider.ts";
import { type SidecarOptions, sidecarEnvPrefix, sidecarFlags, toSidecarOptions } from "./sidecar-flags.ts";
import { startTracing, TracingError } from "./tracing.ts";

const usage =
  "Usage: cloudwire-provider-simulated [options]\n\nServes the contract cloudprovider.v1 for a simulated cloud on a Unix socket.";

await runProgram({
  name: "cloudwire-provider-simulated",
  flags: sidecarFlags,
  envPrefix: sidecarEnvPrefix,
  usage,
  // EX_CONFIG, the SDK's exit code for configuration errors.
  problemExitCode: 78,
  toOptions: toSidecarOptions,
  run,
  isForUser: (error): error is Error => error instanceof KeyFileError || error instanceof TracingError,
});

async function run({ endpoint, cloudUrl, key, ...settings }: SidecarOptions): Promise<void> {
  const apiKey = key.kind === "file" ? keyFromFile(key.path, Date.now) : () => key.text;
  const tracing = await startTracing(process.env);
  const provider = await serveProvider(createSimulatedProvider({ url: cloudUrl, apiKey, ...settings }), {
    endpoint,
    onShutdown: tracing?.stop,
  });
  // One line that a parent process waits for.
  process.stdout.write(`provider ready ${provider.address}\n`);
}
