import { X509Certificate } from "node:crypto";
import { copyFile, mkdtemp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { ServerCredentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { instancesFor, ScriptedProvider } from "../../../test/support/provider/scripted-provider.ts";
import { refs } from "../../../test/support/provider/client-harness.ts";
import { BlackholeProxy } from "../../../test/support/provider/blackhole-proxy.ts";
import type { ProviderTls } from "./address.ts";
import { ProviderChannel } from "./channel.ts";

const FIXTURES = join(import.meta.dirname, "..", "..", "..", "test", "fixtures", "provider-tls");
const fixture = (name: string): string => join(FIXTURES, name);

let harness: ProviderHarness;
let closing: (() => unknown)[];

beforeEach(async () => {
  harness = await ProviderHarness.create();
  closing = [];
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  for (const close of closing) await close();
});

async function credentialsOf(server: string, clientAuthority = "authority"): Promise<ServerCredentials> {
  const [ca, cert, key] = await Promise.all(
    [`${clientAuthority}.pem`, `${server}.pem`, `${server}.key`].map((name) => readFile(fixture(name))),
  );
  if (ca === undefined || cert === undefined || key === undefined) throw new Error("no fixtures");
  return ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
}

async function serve(credentials: ServerCredentials, port = 0): Promise<{ provider: ScriptedProvider; port: number }> {
  const started = await ScriptedProvider.startTcp(credentials, {}, port);
  closing.push(() => started.provider[Symbol.asyncDispose]());
  return started;
}

const files = (parts: Partial<ProviderTls> = {}): ProviderTls => ({
  caFile: fixture("authority.pem"),
  certFile: fixture("client.pem"),
  keyFile: fixture("client.key"),
  serverName: undefined,
  ...parts,
});

const TIMING = { remoteConnectMs: 500, tlsFilesMs: 50 };
const connect = (port: number, tls?: ProviderTls, host = "127.0.0.1") =>
  harness.connect({ address: `tcp://${host}:${port}`, timing: TIMING, ...(tls === undefined ? {} : { tls }) });

/** Why there is no connection, as health says. */
async function refusal(sidecar: ReturnType<typeof connect>): Promise<{ name: string; message: string } | undefined> {
  await eventually("health says why", () =>
    sidecar.health.reasons.some(({ name }) => !["Connecting", "HandshakeFailed", "NotResponding"].includes(name)),
  );
  return sidecar.health.reasons[0];
}

describe("ProviderConnection to another host", () => {
  test.each(["127.0.0.1", "localhost"])("calls over TLS with certificates on both sides at %s", async (host) => {
    const { port } = await serve(await credentialsOf("server"));
    const sidecar = connect(port, files(), host);
    await harness.ready(sidecar);
    expect(sidecar.info).toMatchObject({ name: "acme.example.com" });
    expect(sidecar.warnings).toEqual([]);
    const { validToDate } = new X509Certificate(await readFile(fixture("client.pem")));
    expect(sidecar.tls).toEqual({ certificateExpiresAtMs: validToDate.getTime(), problem: undefined });
  });

  test("takes the name that the certificate must be for from the settings", async () => {
    const { port } = await serve(await credentialsOf("other-name"));
    const sidecar = connect(port, files({ serverName: "elsewhere.test" }));
    await harness.ready(sidecar);
    expect(sidecar.health).toEqual({ ready: true, reasons: [] });
  });

  test("warns for as long as calls go in plaintext", async () => {
    const { port } = await serve(ServerCredentials.createInsecure());
    const sidecar = connect(port);
    await harness.ready(sidecar);
    expect(sidecar.warnings).toEqual([`calls to tcp://127.0.0.1:${port} are in plaintext (--provider-plaintext)`]);
    expect(harness.log.lines.map(({ message }) => message)).toContain("Provider is called without TLS");
  });

  test.each([
    { title: "expired", server: "expired", tls: {}, reason: "CertificateExpired", text: "is not valid at this time" },
    {
      title: "of an unknown authority",
      server: "server-2",
      tls: {},
      reason: "CertificateUntrusted",
      text: "no CA certificate in ca= signed",
    },
    {
      title: "for another name",
      server: "other-name",
      tls: {},
      reason: "CertificateNameMismatch",
      text: 'is not for "127.0.0.1"',
    },
    {
      title: "for clients only",
      server: "client",
      tls: {},
      reason: "CertificateUsageMismatch",
      text: "issue the provider's for server use",
    },
    {
      title: "that refuses ours",
      server: "server",
      tls: { certFile: fixture("client-2.pem"), keyFile: fixture("client-2.key") },
      reason: "ClientCertificateRejected",
      text: "CLOUD_PROVIDER_TLS_CLIENT_CA_FILE",
    },
    {
      title: "when ours is expired",
      server: "server",
      tls: { certFile: fixture("expired.pem"), keyFile: fixture("expired.key") },
      reason: "TLSFilesUnusable",
      text: "expired at 2021-01-01T00:00:00.000Z; renew it",
    },
    {
      title: "when our key is too small",
      server: "server",
      tls: { certFile: fixture("weak.pem"), keyFile: fixture("weak.key") },
      reason: "TLSFilesUnusable",
      text: "cannot be used for TLS",
    },
    {
      title: "when our key is another's",
      server: "server",
      tls: { keyFile: fixture("client-2.key") },
      reason: "TLSFilesUnusable",
      text: "is not the private key of the first certificate in",
    },
  ])("says what is wrong with a certificate $title", async ({ server, tls, reason, text }) => {
    const { port } = await serve(await credentialsOf(server));
    const found = await refusal(connect(port, files(tls)));
    expect(found).toEqual({ name: reason, message: expect.stringContaining(text) });
    expect(found?.message).not.toContain("\n");
  });

  test("says that nothing listens on the port, and connects once something does", async () => {
    const first = await serve(await credentialsOf("server"));
    await first.provider[Symbol.asyncDispose]();
    const sidecar = connect(first.port, files());
    expect(await refusal(sidecar)).toMatchObject({ name: "ConnectionRefused" });
    await serve(await credentialsOf("server"), first.port);
    await harness.ready(sidecar);
  });

  test("says that a name has no address", async () => {
    expect(await refusal(connect(1, files(), "nowhere.invalid"))).toMatchObject({
      name: "HostNotFound",
      message: expect.stringContaining("the name nowhere.invalid does not resolve"),
    });
  });

  test("says that a provider serves without TLS", async () => {
    const { port } = await serve(ServerCredentials.createInsecure());
    expect(await refusal(connect(port, files()))).toMatchObject({ name: "NotTLS" });
  });

  test("says that a server is not gRPC", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("220 mail.example.com\r\n");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    expect(await refusal(connect(port))).toMatchObject({ name: "NotGRPC" });
  });
});

describe("ProviderConnection when its TLS files change", () => {
  /** All at once, as kubelet changes the files of a volume: links through `..data`, which is put in the place of the one before. */
  const copyTo = async (client: string, authority: string): Promise<ProviderTls> => {
    const inDirectory = (...names: readonly string[]): string => join(harness.directory, ...names);
    const version = await mkdtemp(inDirectory("..version-"));
    await copyFile(fixture(`${authority}.pem`), join(version, "ca.pem"));
    await copyFile(fixture(`${client}.pem`), join(version, "tls.crt"));
    await copyFile(fixture(`${client}.key`), join(version, "tls.key"));
    await symlink(version, inDirectory("..data_tmp"));
    await rename(inDirectory("..data_tmp"), inDirectory("..data"));
    return files({
      caFile: inDirectory("..data", "ca.pem"),
      certFile: inDirectory("..data", "tls.crt"),
      keyFile: inDirectory("..data", "tls.key"),
    });
  };
  const said = (text: string): boolean => harness.log.lines.some(({ message }) => message.includes(text));

  test("loses no call of a steady load, however often they change", async () => {
    const both = await readFile(fixture("authority.pem"), "utf8");
    const authorities = Buffer.from(`${both}${await readFile(fixture("authority-2.pem"), "utf8")}`);
    const [cert_chain, private_key] = await Promise.all(
      [fixture("server.pem"), fixture("server.key")].map((path) => readFile(path)),
    );
    if (cert_chain === undefined || private_key === undefined) throw new Error("no fixtures");
    const { port, provider } = await serve(
      ServerCredentials.createSsl(authorities, [{ cert_chain, private_key }], true),
    );
    // Long enough that calls are under way whenever the channel is replaced.
    provider.script.batchGetInstances = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return instancesFor(request);
    };
    const tls = await copyTo("client", "authority");
    const sidecar = connect(port, tls);
    await harness.ready(sidecar);
    const end = new AbortController();
    const failed: unknown[] = [];
    const outcomes = { answered: 0 };
    const load = async (): Promise<void> => {
      while (!end.signal.aborted) {
        await sidecar.client.getInstances(refs(1), { signal: harness.signal, maxDataAgeMs: 0 }).then(
          () => outcomes.answered++,
          (error: unknown) => failed.push(error),
        );
      }
    };
    const loads = Array.from({ length: 8 }, load);
    const renewals = (): number =>
      harness.log.lines.filter(({ message }) => message.includes("changed TLS files")).length;
    for (const [round, client] of ["client-2", "client", "client-2", "client"].entries()) {
      await copyTo(client, "authority");
      await eventually("the connection is renewed", () => renewals() === round + 1);
      const { answered } = outcomes;
      await eventually("calls go on", () => outcomes.answered >= answered + 20);
    }
    end.abort();
    await Promise.all(loads);
    expect(failed).toEqual([]);
    expect(provider.callsOf("getProviderInfo")).toHaveLength(5);
    expect(said("Lost connection to provider")).toBe(false);
  });

  test("keeps the connection, and says why once, while they are of no use", async () => {
    const { port, provider } = await serve(await credentialsOf("server"));
    const sidecar = connect(port, await copyTo("client", "authority"));
    await harness.ready(sidecar);
    await writeFile(join(harness.directory, "..data", "tls.key"), "torn");
    await eventually("the warning", () => sidecar.warnings.length > 0);
    expect(sidecar.warnings[0]).toContain("the changed TLS files are unusable");
    // Certificates that the provider does not take.
    await copyTo("client-2", "authority");
    await eventually("the other warning", () => sidecar.warnings[0]?.includes("no connection is established") === true);
    await copyTo("client", "authority");
    await eventually("no warning", () => sidecar.warnings.length === 0);
    expect(sidecar.health.ready).toBe(true);
    expect(provider.callsOf("getProviderInfo")).toHaveLength(1);
    const lines = harness.log.lines.filter(({ message }) => message.includes("Could not use the changed TLS files"));
    expect(lines).toHaveLength(2);
    expect(said("Lost connection to provider")).toBe(false);
  });
});

test("ProviderConnection takes another host that is silent for gone, and reconnects", async () => {
  const { port } = await serve(ServerCredentials.createInsecure());
  const proxy = new BlackholeProxy(port);
  closing.push(() => proxy.close());
  const sidecar = harness.connect({
    address: `tcp://127.0.0.1:${await proxy.listen()}`,
    timing: { ...TIMING, statusReadyMs: 100, statusNotReadyMs: 100 },
  });
  await harness.ready(sidecar);
  proxy.silence();
  await eventually("another connection is made", () => proxy.connections >= 2);
  await harness.ready(sidecar);
  expect(harness.log.lines).toContainEqual(
    expect.objectContaining({ message: "Lost connection to provider; reconnecting" }),
  );
});

test.each([
  ["more than 4 hours before", 5, []],
  ["less than 4 hours before", 3, [expect.stringContaining("client.pem expires at 2126-")]],
])("ProviderChannel warns %s its certificate ends", async (_title, hours, warnings) => {
  const { validToDate } = new X509Certificate(await readFile(fixture("client.pem")));
  const clock = new FakeClock(validToDate.getTime() - hours * 3_600_000);
  const channel = new ProviderChannel({
    provider: "acme",
    address: "tcp://127.0.0.1:1",
    tls: files(),
    userId: undefined,
    version: "1",
    clock,
  });
  expect(await channel.open()).toBeUndefined();
  expect(channel.warnings).toEqual(warnings);
  channel.close();
});

test("ProviderChannel keeps the connection that stands when its certificate ends, and makes no new one", async () => {
  const { validToDate } = new X509Certificate(await readFile(fixture("client.pem")));
  const endsMs = validToDate.getTime();
  const clock = new FakeClock(endsMs - 1000);
  const [address, version] = ["tcp://127.0.0.1:1", "1"];
  const channel = new ProviderChannel({ provider: "acme", address, tls: files(), version, userId: undefined, clock });
  expect(await channel.open()).toBeUndefined();
  await clock.advance(1000);
  expect(await channel.successor()).toBeUndefined();
  const expired = expect.stringMatching(/client\.pem expired at 2126-/);
  expect(channel).toMatchObject({ problem: expired, certificateExpiresAtMs: endsMs });
  channel.reset();
  expect(await channel.open()).toEqual(expired);
  channel.close();
});
