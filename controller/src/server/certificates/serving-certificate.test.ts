import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { selfSignedCertificate } from "./self-signed.ts";
import { type CertificateSettings, ServingCertificate } from "./serving-certificate.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const PAIR_NAME = "webhook";

let directory: string;
let clock: FakeClock;
let log: FakeLog;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "certificate-"));
  clock = new FakeClock();
  log = new FakeLog();
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const load = (settings: Partial<CertificateSettings> = {}) =>
  ServingCertificate.load({
    settings: { certFile: "", keyFile: "", certDir: "", pairName: PAIR_NAME, hosts: ["localhost"], ...settings },
    clock,
    log,
  });

const make = (commonName: string, validMs = 365 * DAY_MS) =>
  selfSignedCertificate({ commonName, hosts: ["localhost"], nowMs: clock.nowMs(), validMs });

const expiryOf = ({ certificate }: { readonly certificate: string }) =>
  new X509Certificate(certificate).validToDate.toISOString();

const certFile = () => join(directory, `${PAIR_NAME}.crt`);
const keyFile = () => join(directory, `${PAIR_NAME}.key`);

async function put({ certificate, key }: { readonly certificate: string; readonly key: string }): Promise<void> {
  await writeFile(keyFile(), key);
  await writeFile(certFile(), certificate);
}

function facts(certificate: ServingCertificate) {
  const { cert, key } = certificate.current();
  const read = new X509Certificate(cert);
  return { subject: read.subject, fits: read.checkPrivateKey(createPrivateKey(key)) };
}

describe("ServingCertificate.load()", () => {
  test("makes one in memory, for a year", async () => {
    const certificate = await load();
    expect({ ...facts(certificate), isNew: certificate.isNew, file: certificate.file }).toEqual({
      subject: "CN=webhook",
      fits: true,
      isNew: true,
      file: undefined,
    });
    expect(certificate.expiresAtMs).toBe(clock.nowMs() + 365 * DAY_MS);
  });

  test("writes the generated pair to the directory, the key readable only by its owner", async () => {
    const certDir = join(directory, "made", "here");
    const first = await load({ certDir });
    const second = await load({ certDir });
    expect([first.isNew, second.isNew, second.current()]).toEqual([true, false, first.current()]);
    expect(await readFile(join(certDir, "webhook.crt"), "utf8")).toBe(first.current().cert);
    expect((await stat(join(certDir, "webhook.key"))).mode & 0o777).toBe(0o600);
    expect(second.file).toBe(join(certDir, "webhook.crt"));
  });

  test.each([
    { sentence: "one of its own that has less than 30 days", commonName: PAIR_NAME, days: 29, isNew: true },
    { sentence: "one of its own that has more", commonName: PAIR_NAME, days: 31, isNew: false },
    { sentence: "a foreign one with less", commonName: "theirs", days: 29, isNew: false },
  ])("for $sentence in the directory: generated again $isNew", async ({ commonName, days, isNew }) => {
    await put(make(commonName, days * DAY_MS));
    const certificate = await load({ certDir: directory });
    expect(certificate.isNew).toBe(isNew);
  });

  test("prefers given files to the directory", async () => {
    await put(make("given"));
    const certificate = await load({ certFile: certFile(), keyFile: keyFile(), certDir: "/nowhere" });
    expect([facts(certificate).subject, certificate.isNew]).toEqual(["CN=given", false]);
  });

  test("reports a missing file", async () => {
    await expect(load({ certFile: certFile(), keyFile: keyFile() })).rejects.toMatchObject({
      code: "PEM_FILE",
      message: expect.stringMatching(/^cannot read the (certificate|private key): ENOENT: .*webhook\.(crt|key)/),
    });
  });

  test("reports a file that is not PEM", async () => {
    await put({ ...make("given"), certificate: "nonsense" });
    await expect(load({ certDir: directory })).rejects.toMatchObject({
      code: "PEM_FILE",
      message: expect.stringContaining(`${certFile()} holds no certificate in PEM`),
    });
    await put({ ...make("given"), key: "nonsense" });
    await expect(load({ certDir: directory })).rejects.toMatchObject({
      message: expect.stringContaining(`${keyFile()} holds no private key in PEM`),
    });
  });

  test("reports a key that does not match the certificate", async () => {
    await put({ certificate: make("one").certificate, key: make("two").key });
    await expect(load({ certDir: directory })).rejects.toMatchObject({
      message: `${keyFile()} is not the private key of the first certificate in ${certFile()}`,
    });
  });

  test("reports that it cannot write the generated pair", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    await expect(load({ certDir: join(file, "sub") })).rejects.toMatchObject({
      code: "PEM_FILE",
      message: expect.stringContaining("cannot write the generated certificate"),
    });
  });
});

describe("ServingCertificate.run()", () => {
  /** Files are read for real: time alone does not bring them. */
  async function tick(): Promise<void> {
    await vi.waitFor(() => expect(clock.timers).toBe(1), { timeout: 20_000 });
    await clock.advance(10_000);
    await vi.waitFor(() => expect(clock.timers).toBe(1), { timeout: 20_000 });
  }

  test("loads a complete new pair and notifies, never half of one", async () => {
    await put(make("first"));
    const certificate = await load({ certDir: directory });
    const notified: string[] = [];
    certificate.onChange(() => notified.push(facts(certificate).subject));
    const life = new AbortController();
    const running = certificate.run(life.signal);

    await tick();
    expect(notified).toEqual([]);

    const next = make("second");
    await writeFile(certFile(), next.certificate);
    await tick();
    await tick();
    expect([notified, facts(certificate).subject]).toEqual([[], "CN=first"]);
    expect(log.messages("warn")).toEqual(["Rejected the changed serving certificate"]);

    await writeFile(keyFile(), next.key);
    await tick();
    expect([notified, facts(certificate)]).toEqual([["CN=second"], { subject: "CN=second", fits: true }]);

    life.abort(new Error("over"));
    await running;
    expect(clock.timers).toBe(0);
  });

  test("rejects an expired pair and one that TLS cannot use", async () => {
    await put(make("first"));
    const certificate = await load({ certDir: directory });
    const life = new AbortController();
    const running = certificate.run(life.signal);

    const expired = make("expired", 5000);
    await put(expired);
    await tick();
    await tick();
    const broken = make("broken");
    await put({
      ...broken,
      certificate: `${broken.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    });
    await tick();
    expect(facts(certificate).subject).toBe("CN=first");
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { detail: `the certificate in ${certFile()} expired at ${expiryOf(expired)}; renew it` },
      { detail: expect.stringContaining(`the certificate in ${certFile()} cannot be used for TLS`) },
    ]);

    life.abort(new Error("over"));
    await running;
  });

  test.each([
    { sentence: "a year", days: 365, shortDays: 30 },
    { sentence: "a day", days: 1, shortDays: 0.2 },
  ])("warns once before a pair for $sentence expires, and once after", async ({ days, shortDays }) => {
    await put(make("theirs", days * DAY_MS));
    const certificate = await load({ certDir: directory });
    const life = new AbortController();
    const running = certificate.run(life.signal);
    // Certificates are valid from an hour before now on, which counts a little.
    await clock.advance((days - shortDays) * DAY_MS - HOUR_MS);
    await tick();
    expect(log.messages("warn")).toEqual([]);
    await clock.advance(HOUR_MS);
    await tick();
    await tick();
    expect(log.messages("warn")).toEqual(["The serving certificate expires soon"]);
    await clock.advance(shortDays * DAY_MS);
    await tick();
    await tick();
    expect(log.messages("warn")).toEqual([
      "The serving certificate expires soon",
      "The serving certificate has expired",
    ]);
    life.abort(new Error("over"));
    await running;
  });

  test("warns before one in memory expires, and stops when aborted", async () => {
    const life = new AbortController();
    const running = (await load()).run(life.signal);
    await clock.advance(340 * DAY_MS);
    expect(log.messages("warn")).toEqual(["The serving certificate expires soon"]);
    life.abort(new Error("over"));
    await expect(running).resolves.toBeUndefined();
    expect(clock.timers).toBe(0);
  });
});
