import { type Child, startChild } from "./child.ts";

export interface SpawnCloudOptions {
  /** Options as on the command line, without the dashes: `{ "state": "/tmp/x.db" }`. */
  readonly flags?: Readonly<Record<string, string | readonly string[]>>;
  /** Default 60 s: a busy machine may need long. */
  readonly readyTimeoutMs?: number;
}

/** A cloud in a process of its own. */
export interface SpawnedCloud extends Child {
  /** Base URL of the API and of the admin API. */
  readonly url: string;
}

/** Starts the cloud as a process, on any free port and without a state file unless the flags say otherwise. */
export async function spawnCloud({
  flags = {},
  readyTimeoutMs = 60_000,
}: SpawnCloudOptions = {}): Promise<SpawnedCloud> {
  const all = { listen: "127.0.0.1:0", state: ":memory:", "log-level": "warn", ...flags };
  const child = await startChild({
    program: "../cloud/main",
    args: toArgs(all),
    ready: /^simcloud ready (\S+)\n/m,
    readyTimeoutMs,
  });
  return { ...child, url: child.readyText };
}

/** `{ account: ["a=b", "c=d"] }` gives `--account a=b --account c=d`. */
function toArgs(flags: Readonly<Record<string, string | readonly string[]>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => `--${name}=${one}`),
  );
}
