import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { ProviderChannel } from "./channel.ts";
import { RPCS } from "../convert/methods.ts";

const OPTIONS = { signal: new AbortController().signal, requestId: "r-1", traceparent: "" };
const TLS = {
  caFile: "/none/ca.pem",
  certFile: "/none/client.pem",
  keyFile: "/none/client.key",
  serverName: undefined,
};

describe("ProviderChannel", () => {
  test("sends nothing before its TLS files were read: without them it would be plaintext", async () => {
    const address = "tcp://127.0.0.1:1";
    const channel = new ProviderChannel({
      provider: "acme",
      address,
      version: "1",
      userId: undefined,
      tls: TLS,
      clock: new FakeClock(),
    });
    expect(await channel.open()).toContain("/none/");
    const refused = { code: "UNAVAILABLE", message: expect.stringContaining("provider acme is not connected") };
    await expect(
      channel.caller.unary(RPCS.getProviderInfo, RPCS.getProviderInfo.request.decode(new Uint8Array()), OPTIONS),
    ).rejects.toMatchObject(refused);
    await expect(
      channel.stream(RPCS.watchInstances, RPCS.watchInstances.request.decode(new Uint8Array()), OPTIONS).next(),
    ).rejects.toMatchObject(refused);
  });
});
