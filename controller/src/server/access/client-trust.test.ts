import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { selfSignedCertificate } from "../certificates/self-signed.ts";
import { TrustSource, parseBundle, trustFromConfigMap } from "./client-trust.ts";

describe("parseBundle()", () => {
  test.each([
    ["", "holds no certificate in PEM form"],
    ["not a certificate", "holds no certificate in PEM form"],
    ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "certificate 1 cannot be read"],
  ])("reports the problem of %j", (pem, message) => {
    expect(() => parseBundle(pem)).toThrow(message);
  });
});

describe("trustFromConfigMap()", () => {
  test("trusts no CA when it is empty", () => {
    expect(trustFromConfigMap({})).toEqual({ clients: [], proxies: undefined });
  });
});

describe("trust source", () => {
  let directory: string;
  let log: FakeLog;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "trust-"));
    log = new FakeLog();
  });
  afterEach(() => rm(directory, { recursive: true }));

  const bundle = () => join(directory, "ca.crt");
  const forever = new AbortController().signal;

  function source(files: { readonly clientCaFile?: string; readonly proxyCaFile?: string }): TrustSource {
    const proxyHeaders = { allowedNames: [], usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraPrefixes: [] };
    const clock = new FakeClock();
    return new TrustSource({
      client: undefined,
      clientCaFile: "",
      proxyCaFile: "",
      ...files,
      proxyHeaders,
      clock,
      log,
    });
  }

  async function putAuthority(): Promise<void> {
    const { certificate } = selfSignedCertificate({
      commonName: "ca",
      hosts: [],
      nowMs: Date.now(),
      validMs: 3_600_000,
    });
    await writeFile(bundle(), certificate);
  }

  test.each([
    ["clientCaFile", "--client-ca-file"],
    ["proxyCaFile", "--requestheader-client-ca-file"],
  ] as const)("TrustSource.checkFiles() names the flag of a %s that cannot be read", async (key, flag) => {
    await expect(source({ [key]: bundle() }).checkFiles()).rejects.toMatchObject({
      code: "PEM_FILE",
      message: expect.stringContaining(`${flag}: cannot read CA certificates from ${bundle()}: ENOENT`),
    });
    await writeFile(bundle(), "nonsense");
    await expect(source({ [key]: bundle() }).checkFiles()).rejects.toMatchObject({
      message: `${flag}: cannot read CA certificates from ${bundle()}: holds no certificate in PEM form`,
    });
    await putAuthority();
    await expect(source({ [key]: bundle() }).checkFiles()).resolves.toBeUndefined();
  });

  test("TrustSource.read() logs in one line that a file cannot be read and which CAs are in force", async () => {
    const trust = source({ clientCaFile: bundle() });
    await trust.read(forever);
    await putAuthority();
    await trust.read(forever);
    const before = trust.current;
    await writeFile(bundle(), "nonsense");
    await trust.read(forever);
    await trust.read(forever);
    expect(trust.current).toBe(before);
    const problem = expect.stringMatching(/^--client-ca-file: cannot read CA certificates from /);
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { detail: problem, trusted: "none yet" },
      { detail: problem, trusted: "the previous CAs" },
    ]);
  });
});
