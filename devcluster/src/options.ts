import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** What the command line asks for. */
export type Command =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "run"; readonly host: string; readonly port: number; readonly kubeconfigPath: string | undefined }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

interface Flag {
  readonly name: string;
  readonly value: string;
  readonly help: string;
}

const flags: readonly Flag[] = [
  { name: "host", value: "ADDRESS", help: "address to listen on (default 127.0.0.1)" },
  { name: "port", value: "PORT", help: "port to listen on (default 6443; 0 takes any free one)" },
  { name: "kubeconfig-out", value: "PATH", help: "write a kubeconfig for the cluster to this file" },
];
const config: ParseArgsOptionsConfig = {
  ...Object.fromEntries(flags.map(({ name }) => [name, { type: "string" }] as const)),
  help: { type: "boolean", short: "h" },
};

/** Reads the command line; every problem is one line that says what to do. */
export function parseCommand(args: readonly string[]): Command {
  const { values, tokens, positionals } = parseArgs({
    args: [...args],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values["help"] === true) return { kind: "help", text: help() };
  const problems = [
    ...tokens.flatMap((token) => (token.kind === "option" && !(token.name in config) ? [unknown(token.rawName)] : [])),
    ...positionals.map((text) => `unexpected argument ${JSON.stringify(text)}: only flags are taken, see --help`),
    ...flags
      .filter(({ name }) => values[name] === true)
      .map(({ name, value }) => `--${name} needs a value: --${name}=${value}`),
  ];
  const port = readPort(values["port"] ?? "6443");
  if (port === undefined) problems.push(`--port=${String(values["port"])} is no port: give a number from 0 to 65535`);
  if (problems.length > 0 || port === undefined) return { kind: "invalid", problems };
  const { host = "127.0.0.1", "kubeconfig-out": path } = values;
  return { kind: "run", port, host: String(host), kubeconfigPath: typeof path === "string" ? path : undefined };
}

function readPort(value: unknown): number | undefined {
  const port = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : -1;
  return port >= 0 && port <= 65_535 ? port : undefined;
}

function unknown(flag: string): string {
  return `unknown flag ${flag}: see --help for the flags there are`;
}

function help(): string {
  const lines = flags.map(({ name, value, help: text }) => `  ${`--${name}=${value}`.padEnd(24)} ${text}`);
  return [
    "devcluster: a small Kubernetes API server in memory, for demos and tests",
    "",
    "Usage: devcluster [flags]",
    "",
    ...lines,
    `  ${"-h, --help".padEnd(24)} show this`,
    "",
  ].join("\n");
}
