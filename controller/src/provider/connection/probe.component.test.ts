import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { ScriptedProvider } from "../../../test/support/provider/scripted-provider.ts";
import { probeSocket } from "./probe.ts";

/** A user without privileges: root bypasses file permissions. */
const UNPRIVILEGED_UID = 65_534;

let harness: ProviderHarness;
let provider: ScriptedProvider;

beforeEach(async () => {
  harness = await ProviderHarness.create();
  provider = await ScriptedProvider.start(harness.socketPath);
});

afterEach(async () => {
  await provider[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
});

test("probeSocket() finds nothing wrong with a gRPC server", async () => {
  expect(await probeSocket(harness.socketPath, process.getuid?.())).toBeUndefined();
});

test.each([
  ["the socket", 0o755, 0o600],
  ["its directory", 0o700, 0o777],
])("probeSocket() says that it has no right to %s", async (_, directoryMode, socketMode) => {
  await chmod(dirname(harness.socketPath), directoryMode);
  await chmod(harness.socketPath, socketMode);
  const finding = await asUnprivileged(() => probeSocket(harness.socketPath, process.getuid?.()));
  expect(finding).toMatchObject({ reason: "SocketPermissionDenied" });
  expect(finding?.message).toContain("permission denied for user");
});

async function asUnprivileged<Result>(run: () => Promise<Result>): Promise<Result> {
  process.seteuid?.(UNPRIVILEGED_UID);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}
