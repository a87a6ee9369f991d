#!/usr/bin/env node
import "@cloudwire/node-guard";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createLogger, type LogLevel, serveProvider } from "@cloudwire/provider-sdk";
import { type Config, parseConfig } from "./config/config.ts";
import { createBareMetalProvider } from "./provider.ts";
import { StateError } from "./state/store.ts";

const name = "cloudwire-provider-baremetal";
/** EX_CONFIG, the SDK's exit code for configuration errors. */
const configExitCode = 78;
const help = `Usage: ${name} --config <file> [options]

Serves the contract cloudprovider.v1 for machines of one's own: an inventory, HAProxy, nftables and kernel routes.

  --config <file>   Configuration, in YAML; see the README. [BAREMETAL_CONFIG]
  --endpoint <url>  Where to listen: unix:///run/cloud-provider/provider.sock. [CLOUD_PROVIDER_ENDPOINT]
  --check           Reads the configuration, says what is wrong with it, and ends.
  --help            This text.
`;

interface Given {
  readonly configPath: string;
  readonly endpoint: string | undefined;
  readonly isCheck: boolean;
}

const given = readArguments();
if (given !== undefined) await run(given);

async function run({ configPath, endpoint, isCheck }: Given): Promise<void> {
  const config = await readConfig(configPath);
  if (config === undefined) return;
  if (isCheck) {
    process.stdout.write(`${configPath} is good\n`);
    return;
  }
  try {
    const log = createLogger({ level: logLevel(), write: (line) => process.stderr.write(line), now: () => new Date() });
    const { definition, start, stop } = await createBareMetalProvider(config, log);
    const provider = await serveProvider(definition, {
      ...(endpoint === undefined ? {} : { endpoint }),
      onShutdown: async () => stop(),
    });
    start();
    // One line that a parent process waits for.
    process.stdout.write(`provider ready ${provider.address}\n`);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    fail([error.message]);
  }
}

/** Read as by the SDK, which reports invalid values. */
function logLevel(): LogLevel {
  const levels = ["debug", "info", "warn", "error"] as const;
  return levels.find((level) => level === process.env["CLOUD_PROVIDER_LOG_LEVEL"]) ?? "info";
}

function readArguments(): Given | undefined {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: "string" },
        endpoint: { type: "string" },
        check: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      process.stdout.write(help);
      return undefined;
    }
    const configPath = values.config ?? process.env["BAREMETAL_CONFIG"];
    if (configPath !== undefined) return { configPath, endpoint: values.endpoint, isCheck: values.check ?? false };
    fail(["give --config, the path of the configuration file (--help lists all options)"]);
  } catch (error) {
    fail([`${messageOf(error)} (--help lists all options)`]);
  }
  return undefined;
}

async function readConfig(path: string): Promise<Config | undefined> {
  try {
    const parsed = parseConfig(await readFile(path, "utf8"));
    if (parsed.kind === "value") return parsed.value;
    fail(parsed.problems.map((problem) => `${path}: ${problem}`));
  } catch (error) {
    fail([`${path} cannot be read: ${messageOf(error)}`]);
  }
  return undefined;
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
  process.exitCode = configExitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
