import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import {
  contractFailure,
  providerInfo,
  providerStatus,
  ScriptedProvider,
  StatusFailure,
} from "../../../test/support/provider/scripted-provider.ts";

const WAITING = "Could not connect to provider; retrying";

let harness: ProviderHarness;
let closing: AsyncDisposable[];

beforeEach(async () => {
  harness = await ProviderHarness.create();
  closing = [];
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  for (const thing of closing) await thing[Symbol.asyncDispose]();
});

async function serve(script: Parameters<typeof ScriptedProvider.start>[1] = {}): Promise<ScriptedProvider> {
  const provider = await ScriptedProvider.start(harness.socketPath, script);
  closing.push(provider);
  return provider;
}

/** The reason and text of the line that says why there is no connection. */
async function refusal(): Promise<{ reason: unknown; why: unknown }> {
  const lines = () => harness.log.lines.filter(({ message }) => message === WAITING);
  await eventually("a line says why", () => lines().length > 0);
  const fields = lines()[0]?.fields ?? {};
  return { reason: fields["reason"], why: fields["detail"] };
}

describe("ProviderConnection", () => {
  test("shakes hands, keeps what the provider declared and asks for its status", async () => {
    const provider = await serve();
    const sidecar = harness.connect();
    await harness.ready(sidecar);
    await eventually("the status is known", () => sidecar.status !== undefined);
    expect(sidecar.info).toMatchObject({ name: "acme.example.com", bootId: "boot-1", scopeId: "project-1" });
    expect(sidecar.health).toEqual({ ready: true, reasons: [] });
    expect(sidecar.unavailable).toBeUndefined();
    const [handshake] = provider.callsOf("getProviderInfo");
    expect(handshake?.request).toMatchObject({
      client: { name: "cloudwire-controller-manager", contractMajor: 1 },
      cluster: { id: "cluster-1", name: "test" },
    });
    expect(handshake?.timeoutMs).toBeGreaterThan(4000);
    expect(handshake?.timeoutMs).toBeLessThanOrEqual(5000);
    expect(provider.callsOf("getProviderStatus")[0]?.request).toMatchObject({
      context: { cluster: { id: "cluster-1" }, scopeId: "project-1" },
    });
  });

  test("says that the socket is missing, and connects once it appears", async () => {
    const sidecar = harness.connect();
    const { reason, why } = await refusal();
    expect(reason).toBe("SocketMissing");
    expect(why).toContain(`${harness.socketPath} does not exist`);
    expect(sidecar.health).toMatchObject({ ready: false, reasons: [{ name: "SocketMissing" }] });
    await serve();
    await harness.ready(sidecar);
  });

  test("says that a file is in the socket's place", async () => {
    await writeFile(harness.socketPath, "");
    harness.connect();
    expect(await refusal()).toMatchObject({ reason: "NotASocket" });
  });

  test("says that the socket is one a dead process left", async () => {
    const process = await startProcess("boot-1");
    process.kill("SIGKILL");
    await once(process, "exit");
    harness.connect();
    expect(await refusal()).toMatchObject({ reason: "SocketConnectionRefused" });
  });

  test.each([
    ["says nothing", undefined],
    ["speaks HTTP/1", "HTTP/1.1 400 Bad Request\r\n\r\n"],
  ])("says that a server which %s is not gRPC, and connects once a provider takes its place", async (_, greeting) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      if (greeting !== undefined) socket.end(greeting);
    });
    server.listen(harness.socketPath);
    await once(server, "listening");
    const sidecar = harness.connect();
    const { reason, why } = await refusal();
    expect(reason).toBe("NotGRPC");
    expect(why).toContain("responds but is not a gRPC server");
    await serve();
    await harness.ready(sidecar);
    server.close();
  });

  test.each([
    ["of another major version", { contractMajor: 2 }, "UnsupportedContract", "uses contract version 2"],
    ["without boot id", { bootId: "" }, "InvalidHandshake", "boot_id is empty"],
    ["with a malformed prefix", { providerIdPrefixes: ["acme"] }, "InvalidHandshake", '"acme" does not end in "://"'],
  ])("rejects a provider %s and accepts it when that is fixed", async (_, parts, reason, text) => {
    const provider = await serve({ getProviderInfo: () => providerInfo(parts) });
    const sidecar = harness.connect();
    const found = await refusal();
    expect(found.reason).toBe(reason);
    expect(found.why).toContain(text);
    provider.script.getProviderInfo = () => providerInfo();
    await harness.ready(sidecar);
  });

  test("says that a gRPC server without the service is no provider", async () => {
    await serve({
      getProviderInfo: () => {
        throw new StatusFailure(12, "unknown service");
      },
    });
    harness.connect();
    expect(await refusal()).toMatchObject({ reason: "UnsupportedContract" });
  });

  test("repeats one obstacle's line only every 10 s, and reports another immediately", async () => {
    harness.connect();
    await refusal();
    const provider = await serve({
      getProviderInfo: () => {
        throw contractFailure("PROVIDER_STARTING", "loading");
      },
    });
    await eventually("the handshake was tried again and again", () => provider.callsOf("getProviderInfo").length >= 5);
    const lines = harness.log.lines.filter(({ message }) => message === WAITING);
    expect(lines.map(({ fields }) => fields["reason"])).toEqual(["SocketMissing", "HandshakeFailed"]);
  });

  test("is back within a second of a provider that was killed and started again", async () => {
    const first = await startProcess("boot-1");
    const sidecar = harness.connect({ timing: { connectMs: 1000, retryMs: 1000 } });
    await harness.ready(sidecar);
    first.kill("SIGKILL");
    await eventually("the loss is noticed", () => !sidecar.health.ready);
    const second = await startProcess("boot-2");
    const servingAtMs = performance.now();
    await eventually("the new process is known", () => sidecar.info?.bootId === "boot-2", 5000);
    expect(performance.now() - servingAtMs).toBeLessThan(1000);
    expect(sidecar.health.ready).toBe(true);
    second.kill("SIGKILL");
  });

  test("shakes hands again when the status comes from another process, and reports what changed", async () => {
    const provider = await serve();
    const sidecar = harness.connect({ timing: { statusReadyMs: 20, statusNotReadyMs: 20 } });
    await harness.ready(sidecar);
    const capabilities = { instances: { maxBatchSize: 100, lookupByName: true } };
    provider.script.getProviderInfo = () => providerInfo({ bootId: "boot-2", capabilities });
    provider.script.getProviderStatus = () => providerStatus({ bootId: "boot-2" });
    await eventually("the new process is known", () => sidecar.info?.bootId === "boot-2");
    await harness.ready(sidecar);
    const line = harness.log.lines.find(({ message }) => message === "Capabilities of provider changed");
    expect(line?.fields).toMatchObject({
      appeared: [],
      changed: expect.arrayContaining(["capabilities.instances.maxBatchSize: 200 -> 100"]),
    });
  });

  test("shows a cloud that is down as a reason, without being unready", async () => {
    const condition = { type: "CloudReachable", status: 2 as const, reason: "Timeout", message: "no answer" };
    await serve({ getProviderStatus: () => providerStatus({ ready: false, conditions: [condition] }) });
    const sidecar = harness.connect();
    await harness.ready(sidecar);
    await eventually("the status is known", () => sidecar.health.reasons.length > 0);
    expect(sidecar.health).toEqual({
      ready: true,
      reasons: [{ name: "CloudNotReady", message: "CloudReachable: Timeout: no answer" }],
    });
  });

  describe("to a provider that has not reached its cloud yet", () => {
    const condition = { type: "CloudReachable", status: 2 as const, reason: "Timeout", message: "no answer" };

    async function unscoped() {
      const provider = await serve({
        getProviderInfo: () => providerInfo({ scopeId: "" }),
        getProviderStatus: () => providerStatus({ ready: false, scopeId: "", conditions: [condition] }),
      });
      const sidecar = harness.connect();
      await harness.ready(sidecar);
      await eventually("the status is known", () => sidecar.status !== undefined);
      return { provider, sidecar };
    }

    test("stands, says so and sends nothing but handshake and status", async () => {
      const { provider, sidecar } = await unscoped();
      expect(sidecar.health).toEqual({
        ready: true,
        reasons: [
          {
            name: "CloudNotReady",
            message: "the provider has not reached its cloud yet: CloudReachable: Timeout: no answer",
          },
        ],
      });
      const calls = [
        sidecar.client.listInstances({ signal: harness.signal }),
        sidecar.client.deleteLoadBalancer(
          { service: { namespace: "default", name: "web", uid: "u" }, annotations: {} },
          { signal: harness.signal },
        ),
      ];
      const refused = { reason: "PROVIDER_STARTING", class: "TRANSIENT" };
      expect(await Promise.allSettled(calls)).toMatchObject([{ reason: refused }, { reason: refused }]);
      expect(sidecar.unavailable).toMatchObject(refused);
      expect(new Set(provider.calls.map(({ method }) => method))).toEqual(
        new Set(["getProviderInfo", "getProviderStatus"]),
      );
      expect(provider.callsOf("getProviderStatus")[0]?.request).toMatchObject({ context: undefined });
    });

    test("notices within seconds that the scope is known, and calls go", async () => {
      const { provider, sidecar } = await unscoped();
      provider.script.getProviderInfo = () => providerInfo();
      provider.script.getProviderStatus = () => providerStatus();
      await eventually("the scope is known", () => sidecar.info?.scopeId === "project-1", 4000);
      await harness.ready(sidecar);
      expect(await sidecar.client.listInstances({ signal: harness.signal })).toMatchObject({ complete: true });
      expect(sidecar.scopeChange).toBeUndefined();
    });
  });

  test("takes an empty scope for no other one, be it of a new process or in a status", async () => {
    const provider = await serve();
    const sidecar = harness.connect({ timing: { statusReadyMs: 20, statusNotReadyMs: 20 } });
    await harness.ready(sidecar);
    provider.script.getProviderStatus = () => providerStatus({ scopeId: "" });
    const asked = provider.callsOf("getProviderStatus").length;
    await eventually("the status was asked for twice", () => provider.callsOf("getProviderStatus").length >= asked + 2);
    expect(provider.callsOf("getProviderInfo")).toHaveLength(1);
    provider.script.getProviderInfo = () => providerInfo({ bootId: "boot-2", scopeId: "" });
    provider.script.getProviderStatus = () => providerStatus({ bootId: "boot-2", scopeId: "" });
    await eventually("the new process is known", () => sidecar.info?.bootId === "boot-2");
    expect(sidecar.scopeChange).toBeUndefined();
    expect(sidecar.snapshot.handshakes).toMatchObject([
      { bootId: "boot-2", changes: ['scopeId: "project-1" -> ""'] },
      { bootId: "boot-1", changes: [] },
    ]);
    provider.script.getProviderInfo = () => providerInfo({ bootId: "boot-2", scopeId: "project-2" });
    provider.script.getProviderStatus = () => providerStatus({ bootId: "boot-2", scopeId: "project-2" });
    await eventually("the scope is known", () => sidecar.scopeChange !== undefined);
    expect(sidecar.scopeChange).toMatchObject({ confirmed: "project-1", current: "project-2" });
  });

  test("ends immediately on request, in any state", async () => {
    const sidecar = harness.connect();
    await refusal();
    const startedAtMs = performance.now();
    await harness[Symbol.asyncDispose]();
    expect(performance.now() - startedAtMs).toBeLessThan(500);
    expect(sidecar.health.ready).toBe(false);
  });
});

async function startProcess(bootId: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL("../../../test/support/provider/scripted-provider-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=development", script, harness.socketPath, bootId], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closing.push({
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
    },
  });
  await once(child.stdout, "data");
  return child;
}
