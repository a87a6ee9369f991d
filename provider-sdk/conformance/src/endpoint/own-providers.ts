import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OwnProvider, OwnTlsProvider } from "../suite/check.ts";
import { type Place, type Transport, tlsPlace, unixPlace } from "./place.ts";
import { type ProviderProcess, startProviderProcess } from "./provider-process.ts";

/** With this the names of their directories begin. */
export const ownDirectoryPrefix = "conformance-own-";

/** Providers that one check starts for itself. */
export class OwnProviders {
  readonly #command: readonly string[];
  readonly #running: ProviderProcess[] = [];
  readonly #directories: string[] = [];

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /** Starts one, by default at a socket in its own directory. */
  async start(path?: string): Promise<OwnProvider> {
    const socketPath = path ?? join(await this.#directory(), "provider.sock");
    return { socketPath, ...(await this.#started(unixPlace(socketPath))) };
  }

  /** Starts one at a port of its own, with certificates of its own. */
  async startTls(): Promise<OwnTlsProvider> {
    const place = await tlsPlace(await this.#directory());
    return { renew: place.renew, ...(await this.#started(place)) };
  }

  /** Ends them all, hard: how they end is what checks are about. */
  async stop(): Promise<void> {
    for (const process of this.#running) process.signal("SIGKILL");
    await Promise.all(this.#running.map((process) => process.stop()));
    for (const directory of this.#directories) await rm(directory, { recursive: true, force: true });
  }

  async #started({ endpoint, environment }: Place): Promise<Pick<OwnProvider, "endpoint" | "process">> {
    const process = await startProviderProcess(this.#command, environment);
    this.#running.push(process);
    return { endpoint, process };
  }

  async #directory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), ownDirectoryPrefix));
    this.#directories.push(directory);
    return directory;
  }
}

/** Starts a provider at a place of its own, lets `use` work with it, and ends it whatever happens. */
export const withProvider = async <Result>(
  command: readonly string[],
  use: (place: Place, provider: ProviderProcess) => Promise<Result>,
  transport: Transport = "unix",
): Promise<Result> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const place = transport === "tls" ? await tlsPlace(directory) : unixPlace(join(directory, "provider.sock"));
    const provider = await startProviderProcess(command, place.environment);
    try {
      return await use(place, provider);
    } finally {
      await provider.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
