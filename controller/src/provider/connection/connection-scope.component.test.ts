import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { providerInfo, providerStatus, ScriptedProvider } from "../../../test/support/provider/scripted-provider.ts";
import type { Sidecar } from "../sidecar.ts";

const QUICK = { statusReadyMs: 20, statusNotReadyMs: 20 };

let harness: ProviderHarness;
let provider: ScriptedProvider;
let ready: number;
let untrustedReasons: (string | undefined)[];

beforeEach(async () => {
  [ready, untrustedReasons] = [0, []];
  harness = await ProviderHarness.create();
  provider = await ScriptedProvider.start(harness.socketPath);
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function connect(): Promise<Sidecar> {
  const sidecar = harness.connect({
    timing: QUICK,
    onReady: () => void ready++,
    onScopeChange: (message) => void untrustedReasons.push(message),
  });
  await eventually("the status is known", () => sidecar.status !== undefined);
  return sidecar;
}

test("waiting callers are notified again when the cloud can be used again, and only then", async () => {
  const sidecar = await connect();
  const asked = provider.callsOf("getProviderStatus").length;
  await eventually("more statuses", () => provider.callsOf("getProviderStatus").length > asked + 3);
  expect(ready).toBe(1);
  provider.script.getProviderStatus = () => providerStatus({ ready: false });
  await eventually("the cloud is away", () => sidecar.status?.ready === false);
  expect(ready).toBe(1);
  provider.script.getProviderStatus = () => providerStatus();
  await eventually("the cloud is back", () => sidecar.status?.ready === true);
  await eventually("it is notified", () => ready === 2);
});

test("a stored scope counts, and waiting callers are notified when the other one is accepted", async () => {
  const sidecar = await connect();
  const change = () =>
    sidecar.client.deleteLoadBalancer(
      { service: { namespace: "default", name: "web", uid: "u" }, annotations: {} },
      { signal: harness.signal },
    );
  sidecar.recallScope("project-0");
  sidecar.recallScope("project-0");
  await expect(change()).rejects.toMatchObject({ reason: "SCOPE_MISMATCH" });
  expect(sidecar.health.reasons).toMatchObject([{ name: "ScopeChanged" }]);
  expect(sidecar.untrustedReason).toContain('works in scope "project-1" and worked in "project-0" before');
  expect([sidecar.confirmedScope, ready]).toEqual(["project-0", 1]);
  sidecar.recallScope("project-1");
  await expect(change()).resolves.toMatchObject({ done: true });
  expect(ready).toBe(2);
  expect(untrustedReasons).toEqual([expect.stringContaining("project-0"), undefined]);
  expect(harness.log.lines.filter(({ message }) => message.includes("scope")).map(({ level }) => level)).toEqual([
    "error",
    "info",
  ]);
});

test("a provider that reaches its cloud only later is compared with the stored scope", async () => {
  provider.script.getProviderInfo = () => providerInfo({ scopeId: "" });
  provider.script.getProviderStatus = () => providerStatus({ scopeId: "" });
  const sidecar = await connect();
  sidecar.recallScope("project-0");
  expect([sidecar.scopeChange, sidecar.confirmedScope]).toEqual([undefined, "project-0"]);
  provider.script.getProviderInfo = () => providerInfo();
  provider.script.getProviderStatus = () => providerStatus();
  await eventually("the scope is not trusted", () => sidecar.scopeChange !== undefined);
  expect(sidecar.confirmedScope).toBe("project-0");
});
