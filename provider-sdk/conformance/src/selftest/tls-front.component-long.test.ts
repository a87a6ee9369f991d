import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { providerProgram } from "../reference/program.ts";
import { referenceFixtures, serveReference } from "../reference/provider.ts";
import type { Report } from "../report/report.ts";
import { runConformance } from "../suite/run-conformance.ts";
import { withProvider } from "../endpoint/own-providers.ts";
import { formatEndpoint } from "../endpoint/endpoint.ts";
import { startTlsFront, type TlsFault } from "./tls-front.ts";

let reference: Awaited<ReturnType<typeof serveReference>>;
beforeAll(async () => {
  reference = await serveReference();
});
afterAll(() => reference.close());

const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-tls-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const runBehind = async (fault: TlsFault, run: readonly string[]): Promise<Report> => {
  const front = await startTlsFront(reference.path, await temporaryDirectory(), fault);
  try {
    const { endpoint, tls } = front;
    return await runConformance({ endpoint, tls, run, fixtures: referenceFixtures });
  } finally {
    await front.close();
  }
};

const outcomes = (report: Report, kind: string): readonly string[] =>
  report.results.filter(({ result }) => result.kind === kind).map(({ id }) => id);

describe("runConformance() over TLS", () => {
  test("passes a provider whose TLS is right, and calls it as on a socket", async () => {
    const report = await runBehind({}, ["sec.**", "info.*", "err.frame.*", "proc.conn.churn", "proc.streams.parallel"]);
    expect(report.results.filter(({ result }) => result.kind !== "pass" && result.kind !== "skip")).toEqual([]);
    expect(outcomes(report, "pass")).toEqual(
      expect.arrayContaining(["sec.tls.plaintext", "sec.tls.client-cert", "sec.tls.version", "proc.conn.churn"]),
    );
  });

  const reloaded = async (): Promise<Report> => {
    const { command, remove } = await providerProgram();
    onTestFinished(remove);
    return withProvider(
      command,
      ({ endpoint, tls }, { gone }) =>
        runConformance({
          endpoint: formatEndpoint(endpoint),
          ...(tls && { tls }),
          gone,
          providerCommand: command,
          level: "D",
          run: ["sec.tls.*"],
          startTimeoutMs: 30_000,
        }),
      "tls",
    );
  };

  test("passes a provider that serves a certificate which was replaced", async () => {
    expect(outcomes(await reloaded(), "pass")).toEqual(expect.arrayContaining(["sec.tls.reload"]));
  }, 120_000);
});

test.each<[string, object, RegExp]>([
  ["asks in plaintext", { tls: undefined }, /closes them at once; if it speaks TLS, give --tls-ca/],
  [
    "has the wrong authority",
    { ca: "client.crt" },
    /TLS handshake: the certificate of tcp:\S+ is not to be trusted: .*see tls\.ca/,
  ],
  [
    "expects another name",
    { serverName: "cloud.example.com" },
    /TLS handshake: the certificate of tcp:\S+ is not to be trusted: .*cloud\.example\.com/,
  ],
  [
    "shows no certificate",
    { cert: undefined, key: undefined },
    /TLS handshake: tcp:\S+ refuses the kit: .*certificate required/,
  ],
])("runConformance() says which step failed when the kit %s", async (_name, change, wanted) => {
  const directory = await temporaryDirectory();
  const front = await startTlsFront(reference.path, directory, {});
  onTestFinished(front.close);
  const given = { tls: { ...front.tls, ...change }, ...change };
  const tls = "ca" in change ? { ...given.tls, ca: join(directory, "client.crt") } : given.tls;
  const options = "tls" in change ? {} : { tls };
  await expect(runConformance({ endpoint: front.endpoint, ...options, startTimeoutMs: 500 })).rejects.toThrow(wanted);
});
