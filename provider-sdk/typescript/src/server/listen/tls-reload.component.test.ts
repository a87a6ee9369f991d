import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { Client, credentials } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { absent } from "../../results/results.ts";
import { createLogger } from "../../telemetry/log.ts";
import { invoke } from "../../../test/support/invoke.ts";
import { basics, temporaryDirectory } from "../../../test/support/serve-for-test.ts";
import { startProvider } from "../start-provider.ts";

const { methods } = CloudProviderDefinition;
const fixtures = join(import.meta.dirname, "..", "..", "..", "test", "certificates");

/** Puts a set of files into place as kubelet does: a new directory, and a link to it that is replaced at once. */
const mount = async (directory: string, sources: Readonly<Record<string, string>>): Promise<void> => {
  const fresh = join(directory, `..${performance.now()}`);
  await mkdir(fresh);
  for (const [name, source] of Object.entries(sources)) await copyFile(join(fixtures, source), join(fresh, name));
  await symlink(fresh, join(directory, "..data_tmp"));
  await rename(join(directory, "..data_tmp"), join(directory, "..data"));
};

const setOf = (suffix: string) => ({
  "tls.crt": `server${suffix}.pem`,
  "tls.key": `server${suffix}.key`,
  "ca.crt": `authority${suffix}.pem`,
});

const start = async () => {
  const directory = await temporaryDirectory();
  await mount(directory, setOf(""));
  const logged: string[] = [];
  const at = (name: string) => join(directory, "..data", name);
  const provider = await startProvider(
    { ...basics, instances: { get: () => absent("LOOKUP_MISS") } },
    {
      endpoint: { kind: "tcp", host: "127.0.0.1", port: 0 },
      log: createLogger({ level: "info", write: (line) => logged.push(line), now: () => new Date() }),
      drainMs: 200,
      tls: { certFile: at("tls.crt"), keyFile: at("tls.key"), clientCaFile: at("ca.crt") },
      tlsReloadMs: 20,
    },
  );
  onTestFinished(() => provider.close());
  const count = (text: string) => logged.filter((line) => line.includes(text)).length;
  const said = (text: string, times = 1) =>
    vi.waitFor(() => expect(count(text)).toBeGreaterThanOrEqual(times), { timeout: 20_000 });
  return { directory, address: provider.address, count, said };
};

const clientOf = async (address: string, suffix: string): Promise<Client> => {
  const names = [`authority${suffix}.pem`, `client${suffix}.key`, `client${suffix}.pem`];
  const [ca, key, cert] = await Promise.all(names.map((name) => readFile(join(fixtures, name))));
  const client = new Client(address, credentials.createSsl(ca, key, cert), {
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.ssl_target_name_override": "localhost",
  });
  onTestFinished(() => client.close());
  return client;
};

const call = (client: Client) => invoke(client, methods.getProviderStatus, {}, { deadlineMs: 20_000 });

const taken = "Serving with changed TLS files";
const notTaken = "The changed TLS files are not taken";

describe("TLS files that change", () => {
  test("are taken for new connections, and no call of any fails", async () => {
    const { directory, address, said } = await start();
    const kept = await clientOf(address, "");
    const outcomes: string[] = [];
    const end = new AbortController();
    const load = async () => {
      while (!end.signal.aborted) outcomes.push((await call(kept)).kind);
    };
    const loads = [load(), load(), load()];
    await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(20), { timeout: 20_000 });
    const before = outcomes.length;
    await mount(directory, setOf("-2"));
    await said(taken);
    const fresh = await clientOf(address, "-2");
    expect(await call(fresh)).toMatchObject({ kind: "ok" });
    // The client of the authority that was taken away is not let in again.
    const late = await clientOf(address, "");
    expect(await invoke(late, methods.getProviderStatus, {}, { deadlineMs: 1_000 })).toMatchObject({ kind: "error" });
    await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(before + 20), { timeout: 20_000 });
    end.abort();
    await Promise.all(loads);
    expect(outcomes.filter((kind) => kind !== "ok")).toEqual([]);
  });

  test.each([
    ["a key that is another's", { ...setOf(""), "tls.key": "server-2.key" }, "is not the key of the first certificate"],
    [
      "a certificate that has expired",
      { ...setOf(""), "tls.crt": "expired.pem", "tls.key": "expired.key" },
      "expired at 2021-01-01",
    ],
    [
      "a key that is too small",
      { ...setOf(""), "tls.crt": "weak.pem", "tls.key": "weak.key" },
      "are of no use for TLS",
    ],
    ["a file that is no PEM", { ...setOf(""), "ca.crt": "README.md" }, "is not a PEM file"],
  ])("are not taken with %s, which is said once", async (_title, sources, problem) => {
    const { directory, address, said, count } = await start();
    await mount(directory, sources);
    await said(problem);
    expect(await call(await clientOf(address, ""))).toMatchObject({ kind: "ok" });
    // Another problem is said again; that it comes next shows that the first was not repeated meanwhile.
    await rm(join(directory, "..data", "tls.crt"));
    await said("tls.crt cannot be read");
    expect(count(notTaken)).toBe(2);
    await mount(directory, setOf("-2"));
    await said(taken);
    expect(await call(await clientOf(address, "-2"))).toMatchObject({ kind: "ok" });
  });

  test("may be written one after the other", async () => {
    const { directory, address, said } = await start();
    const put = async (name: string, source: string) =>
      writeFile(join(directory, "..data", name), await readFile(join(fixtures, source)));
    await put("tls.crt", "server-2.pem");
    await said(notTaken);
    await put("tls.key", "server-2.key");
    await said(taken);
    await put("ca.crt", "authority-2.pem");
    await said(taken, 2);
    expect(await call(await clientOf(address, "-2"))).toMatchObject({ kind: "ok" });
  });
});
