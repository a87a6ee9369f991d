import { type Child, startChild } from "./child.ts";

export interface SpawnSidecarOptions {
  /** Path of the socket, ending in `.sock`. */
  readonly socketPath: string;
  readonly cloudUrl: string;
  /** Default "demo-key", the key of a cloud that was given none. */
  readonly apiKey?: string;
  /** More options as on the command line, without the dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Default 60 s: a busy machine may need long. */
  readonly readyTimeoutMs?: number;
}

/** A sidecar in a process of its own. */
export interface SpawnedSidecar extends Child {
  /** `unix:///path/to.sock` */
  readonly endpoint: string;
}

/** Starts the provider sidecar as a process and waits until it serves. */
export async function spawnSidecar(options: SpawnSidecarOptions): Promise<SpawnedSidecar> {
  const { socketPath, cloudUrl, apiKey = "demo-key", flags = {}, readyTimeoutMs = 60_000 } = options;
  const all = { endpoint: `unix://${socketPath}`, "cloud-url": cloudUrl, ...flags };
  const child = await startChild({
    program: "../sidecar/main",
    args: Object.entries(all).map(([name, value]) => `--${name}=${value}`),
    env: { SIMCLOUD_API_KEY: apiKey },
    ready: /^provider ready (\S+)\n/m,
    readyTimeoutMs,
  });
  return { ...child, endpoint: child.readyText };
}
