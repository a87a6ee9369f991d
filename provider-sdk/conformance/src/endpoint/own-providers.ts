import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OwnProvider, OwnTlsProvider } from "../suite/check.ts";
import { type Place, type Transport, tlsPlace, unixPlace } from "./place.ts";
import { type ProviderProcess, startProviderProcess } from "./provider-process.ts";

/** With this the names of their folders begin. */
export const ownFolderPrefix = "conformance-own-";

/** Providers that one check starts for itself. */
export class OwnProviders {
  readonly #command: readonly string[];
  readonly #running: ProviderProcess[] = [];
  readonly #folders: string[] = [];

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /** Starts one, at a socket in a folder of its own unless told otherwise. */
  async start(path?: string): Promise<OwnProvider> {
    const socketPath = path ?? join(await this.#folder(), "provider.sock");
    return { socketPath, ...(await this.#started(unixPlace(socketPath))) };
  }

  /** Starts one at a port of its own, with certificates of its own. */
  async startTls(): Promise<OwnTlsProvider> {
    const place = await tlsPlace(await this.#folder());
    return { renew: place.renew, ...(await this.#started(place)) };
  }

  /** Ends them all, hard: how they end is what checks are about. */
  async stop(): Promise<void> {
    for (const process of this.#running) process.signal("SIGKILL");
    await Promise.all(this.#running.map((process) => process.stop()));
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  async #started({ endpoint, environment }: Place): Promise<Pick<OwnProvider, "endpoint" | "process">> {
    const process = await startProviderProcess(this.#command, environment);
    this.#running.push(process);
    return { endpoint, process };
  }

  async #folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), ownFolderPrefix));
    this.#folders.push(folder);
    return folder;
  }
}

/** Starts a provider at a place of its own, lets `use` work with it, and ends it whatever happens. */
export const withProvider = async <Result>(
  command: readonly string[],
  use: (place: Place, provider: ProviderProcess) => Promise<Result>,
  transport: Transport = "unix",
): Promise<Result> => {
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const place = transport === "tls" ? await tlsPlace(folder) : unixPlace(join(folder, "provider.sock"));
    const provider = await startProviderProcess(command, place.environment);
    try {
      return await use(place, provider);
    } finally {
      await provider.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
