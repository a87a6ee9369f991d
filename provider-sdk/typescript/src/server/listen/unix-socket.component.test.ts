import { spawn } from "node:child_process";
import { chmod, lstat, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, onTestFinished, test } from "vitest";
import { absent } from "../../results/results.ts";
import { createLogger } from "../../telemetry/log.ts";
import { invoke } from "../../../test/support/invoke.ts";
import { basics, serveForTest, temporaryDirectory } from "../../../test/support/serve-for-test.ts";
import { startProvider } from "../start-provider.ts";
import { clearSocketPath, isLive, removeStale } from "./unix-socket.ts";

const { methods } = CloudProviderDefinition;
const definition = { ...basics, instances: { get: () => absent("LOOKUP_MISS") } };
const log = createLogger({ level: "error", write: () => undefined, now: () => new Date() });

const start = async (path: string) => {
  const provider = await startProvider(definition, { endpoint: { kind: "unix", path }, log });
  onTestFinished(() => provider.close());
  return provider;
};

/** A socket file without a listener, as a killed process leaves it. */
const leaveStaleSocket = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", () => resolve());
  });

describe("the socket of a provider", () => {
  test("has mode 0660, whatever the umask is", async () => {
    const before = process.umask(0o077);
    onTestFinished(() => {
      process.umask(before);
    });
    const { socketPath } = await serveForTest(definition);
    expect((await lstat(socketPath)).mode & 0o777).toBe(0o660);
    expect(process.umask()).toBe(0o077);
  });

  test("is gone after close()", async () => {
    const { socketPath, provider } = await serveForTest(definition);
    await provider.close();
    await expect(lstat(socketPath)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("replaces the socket of a killed process", async () => {
    const path = join(await temporaryDirectory(), "provider.sock");
    await leaveStaleSocket(path);
    expect((await lstat(path)).isSocket()).toBe(true);
    await expect(start(path)).resolves.toMatchObject({ address: `unix://${path}` });
  });

  test("is not taken from a live process, which goes on serving", async () => {
    const { socketPath, client } = await serveForTest(definition);
    await expect(start(socketPath)).rejects.toMatchObject({
      code: "ENDPOINT_UNAVAILABLE",
      exitCode: 69,
      problems: [`another process listens on ${socketPath}; stop it or give another endpoint`],
    });
    expect((await invoke(client, methods.getProviderStatus, {})).kind).toBe("ok");
  });

  test.each(Array.from({ length: 10 }, (_, round) => round))(
    "goes to exactly one of several that start over a stale one at once (round %i)",
    async (round) => {
      const path = join(await temporaryDirectory(), "provider.sock");
      await leaveStaleSocket(path);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 4 }, async (_, index) => {
          // Staggered, so that one looks while another moves.
          await setTimeout((index * round) % 7);
          return start(path);
        }),
      );
      expect(outcomes.filter(({ status }) => status !== "rejected")).toHaveLength(1);
      expect(await isLive(path)).toBe(true);
    },
  );

  test("that another process removed ends the provider, which logs it", async () => {
    const { socketPath, provider, logged } = await serveForTest(definition, { socketCheckMs: 20 });
    await unlink(socketPath);
    expect(await provider.closed).toBe("socketLost");
    expect(logged.join("")).toContain("The socket was removed or replaced");
  });

  test("that another process replaced stays when the provider ends", async () => {
    const { socketPath, provider } = await serveForTest(definition, { socketCheckMs: 20 });
    await unlink(socketPath);
    const other = createServer().listen(socketPath);
    onTestFinished(() => {
      other.close();
    });
    expect(await provider.closed).toBe("socketLost");
    expect(await isLive(socketPath)).toBe(true);
  });

  test("is refused in the place of another kind of file", async () => {
    const path = join(await temporaryDirectory(), "provider.sock");
    await writeFile(path, "precious");
    await expect(start(path)).rejects.toMatchObject({
      problems: [`${path} exists and is no socket; remove it or give another endpoint`],
    });
  });

  test("is refused in a directory that does not exist, in one line", async () => {
    const path = join(await temporaryDirectory(), "missing", "provider.sock");
    await expect(start(path)).rejects.toMatchObject({
      code: "ENDPOINT_UNAVAILABLE",
      problems: [`the directory ${dirname(path)} does not exist; make it, or mount the volume there`],
    });
  });

  test.runIf(process.platform === "linux")("is refused where it may not be made, with what lets it", async () => {
    await expect(start("/proc/provider.sock")).rejects.toMatchObject({
      code: "ENDPOINT_UNAVAILABLE",
      problems: [
        expect.stringMatching(
          /^user \d+ cannot create a socket in \/proc; grant it write permission, in a pod with an emptyDir volume/,
        ),
      ],
    });
  });

  test("is refused for a group that does not exist", async () => {
    const path = join(await temporaryDirectory(), "provider.sock");
    const options = { endpoint: { kind: "unix" as const, path }, log, socketGroup: "no-such-group" };
    await expect(startProvider(definition, options)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      problems: ["socket group no-such-group is not known on this system"],
    });
  });
});

describe("removeStale()", () => {
  test("restores a file that replaced the dead socket meanwhile", async () => {
    const { socketPath, client } = await serveForTest(definition);
    // The next file often gets the inode of the one that was removed: the time distinguishes them.
    const { ino: inode } = await lstat(socketPath, { bigint: true });
    expect(await removeStale(socketPath, { inode, madeNs: 1n })).toBe(false);
    expect((await invoke(client, methods.getProviderStatus, {})).kind).toBe("ok");
    expect((await lstat(socketPath)).isSocket()).toBe(true);
  });
});

describe("clearSocketPath()", () => {
  test("takes a listener that accepts nothing for alive", async () => {
    const path = join(await temporaryDirectory(), "provider.sock");
    const server = createServer().listen({ path, backlog: 1 });
    onTestFinished(() => {
      server.close();
    });
    await new Promise((resolve) => {
      server.once("listening", resolve);
    });
    await chmod(path, 0o600);
    await expect(clearSocketPath(path)).rejects.toMatchObject({ code: "ENDPOINT_UNAVAILABLE" });
    expect((await lstat(path)).isSocket()).toBe(true);
  });
});
