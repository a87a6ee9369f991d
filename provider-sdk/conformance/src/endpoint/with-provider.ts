import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Place, tlsPlace, type Transport, unixPlace } from "./place.ts";
import { type ProviderProcess, startProviderProcess } from "./provider-process.ts";

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
