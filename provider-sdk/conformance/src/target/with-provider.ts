import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ProviderProcess, startProviderProcess } from "./provider-process.ts";

/** Starts a provider on a socket in a folder of its own, lets `use` work with it, and ends it whatever happens. */
export const withProvider = async <Result>(
  command: readonly string[],
  use: (endpoint: string, provider: ProviderProcess) => Promise<Result>,
): Promise<Result> => {
  const folder = await mkdtemp(join(tmpdir(), "conformance-"));
  const endpoint = `unix://${join(folder, "provider.sock")}`;
  try {
    const provider = await startProviderProcess(command, endpoint);
    try {
      return await use(endpoint, provider);
    } finally {
      await provider.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
