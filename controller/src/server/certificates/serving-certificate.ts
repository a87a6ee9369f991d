import { X509Certificate } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "../../telemetry/log.ts";
import { sleep } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { PemFileError, readPemPair, requireUnexpired } from "../../util/pem-pair.ts";
import { type KeyPair, selfSignedCertificate } from "./self-signed.ts";

/** Where a server's certificate comes from. As k8s.io/apiserver/pkg/server/options/serving.go v0.36.3. */
export interface CertificateSettings {
  /** PEM files; both "" or both given. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Without files: `<pairName>.crt` and `.key` in here, made when they are not there. "": made anew, in memory. */
  readonly certDir: string;
  readonly pairName: string;
  /** Names and addresses of one that is made. */
  readonly hosts: readonly string[];
}

export interface CertificateDependencies {
  readonly settings: CertificateSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

const DAY_MS = 86_400_000;

/** As upstream's self-signed ones: client-go/util/cert/cert.go v0.36.3. */
const VALID_MS = 365 * DAY_MS;

/** One that has less time than this is spoken of, and one of our own making is made anew at a start. */
const SHORT_MS = 30 * DAY_MS;

/** Issuers renew at two thirds: of a certificate for a day nothing is to be said before. */
const SHORT_SHARE = 1 / 5;

/** Files are read again so often. Content is compared: mounted Secrets change by symbolic link. */
const RELOAD_MS = 10_000;

/** How often it is looked whether one in memory is about to expire. */
const LOOK_MS = 3_600_000;

/** Key and certificate of a server: given as files and read again when they change, or signed by itself. */
export class ServingCertificate {
  readonly #deps: CertificateDependencies;
  /** undefined: in memory alone. */
  readonly #files: Files | undefined;
  readonly #listeners = new Set<() => void>();
  #pair: KeyPair;
  /** Of the last reload that failed, so that it is said once. */
  #problem: string | undefined;
  /** Said last of the time that the pair in force has left. */
  #toldStage: "ending" | "ended" | undefined;
  /** Made by this process: nobody can know it yet. */
  readonly isNew: boolean;

  private constructor(deps: CertificateDependencies, pair: KeyPair, files: Files | undefined, isNew: boolean) {
    this.#deps = deps;
    this.#pair = pair;
    this.#files = files;
    this.isNew = isNew;
  }

  /** Rejects with PemFileError. */
  static async load(deps: CertificateDependencies): Promise<ServingCertificate> {
    const { certFile, keyFile, certDir, pairName } = deps.settings;
    if (certFile !== "" || keyFile !== "") {
      const files = { certFile, keyFile };
      return new ServingCertificate(deps, await readPemPair(certFile, keyFile), files, false);
    }
    if (certDir === "") return new ServingCertificate(deps, makePair(deps), undefined, true);
    const files = { certFile: join(certDir, `${pairName}.crt`), keyFile: join(certDir, `${pairName}.key`) };
    const kept = await readPairIfThere(files);
    if (kept !== undefined && !isOldOfOurs(kept, deps)) return new ServingCertificate(deps, kept, files, false);
    const made = makePair(deps);
    await writePair(files, made);
    return new ServingCertificate(deps, made, files, true);
  }

  current(): { readonly key: string; readonly cert: string } {
    return { key: this.#pair.key, cert: this.#pair.certificate };
  }

  /** File of the certificate; undefined: it is in memory alone. */
  get file(): string | undefined {
    return this.#files?.certFile;
  }

  get expiresAtMs(): number {
    return expiryOf(this.#pair);
  }

  /** Calls back whenever it has changed; answers how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the files, and says when there is little time left, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const files = this.#files;
    while (!signal.aborted) {
      this.#warnIfShort();
      await sleep(files === undefined ? LOOK_MS : RELOAD_MS, signal, this.#deps.clock).catch(() => undefined);
      if (!signal.aborted && files !== undefined) await this.#reload(files);
    }
  }

  /** Files that are being written, or are wrong, change nothing: what is in force stays so. */
  async #reload({ certFile, keyFile }: Files): Promise<void> {
    const { log, clock } = this.#deps;
    try {
      const pair = await readPemPair(certFile, keyFile);
      if (pair.certificate !== this.#pair.certificate || pair.key !== this.#pair.key) {
        requireUnexpired(certFile, pair.leaf, clock.nowMs());
        this.#pair = pair;
        this.#toldStage = undefined;
        log.info("Serving with a new certificate", { file: certFile, expires: dateOf(this.expiresAtMs) });
        for (const listener of this.#listeners) listener();
      }
      this.#problem = undefined;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem)
        log.warn("The changed certificate is not taken; the one before stays", { problem });
      this.#problem = problem;
    }
  }

  /** Once when there is little time left, and once when there is none. */
  #warnIfShort(): void {
    const leftMs = this.expiresAtMs - this.#deps.clock.nowMs();
    if (leftMs >= shortMs(this.#pair)) return;
    const stage = leftMs > 0 ? "ending" : "ended";
    if (stage === this.#toldStage) return;
    this.#toldStage = stage;
    const { file } = this;
    const remedy = file === undefined ? "restart this process, which makes another" : "put a new one in its place";
    const fields = { expires: dateOf(this.expiresAtMs), file, remedy };
    if (stage === "ending") this.#deps.log.warn("The serving certificate expires soon", fields);
    else this.#deps.log.warn("The serving certificate has expired", fields);
  }
}

function shortMs({ certificate }: KeyPair): number {
  const { validFromDate, validToDate } = new X509Certificate(certificate);
  return Math.min(SHORT_MS, (validToDate.getTime() - validFromDate.getTime()) * SHORT_SHARE);
}

function makePair({ settings, clock }: CertificateDependencies): KeyPair {
  const { pairName, hosts } = settings;
  return selfSignedCertificate({ commonName: pairName, hosts, nowMs: clock.nowMs(), validMs: VALID_MS });
}

/** Nobody else will renew it. */
function isOldOfOurs({ certificate }: KeyPair, { settings, clock }: CertificateDependencies): boolean {
  const { subject, issuer, validToDate } = new X509Certificate(certificate);
  const isOurs = subject === `CN=${settings.pairName}` && issuer === subject;
  return isOurs && validToDate.getTime() - clock.nowMs() < SHORT_MS;
}

function expiryOf({ certificate }: KeyPair): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Where a pair is kept. */
export interface Files {
  readonly certFile: string;
  readonly keyFile: string;
}

/** undefined: one of the files is not there. */
async function readPairIfThere({ certFile, keyFile }: Files): Promise<KeyPair | undefined> {
  try {
    return await readPemPair(certFile, keyFile);
  } catch (error) {
    if (error instanceof PemFileError && isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing({ cause }: PemFileError): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR");
}

/** Makes the folder where needed; the key is for nobody else to read. Rejects with {@link PemFileError}. */
async function writePair({ certFile, keyFile }: Files, { certificate, key }: KeyPair): Promise<void> {
  try {
    await mkdir(dirname(certFile), { recursive: true });
    await writeWhole(keyFile, key, 0o600);
    await writeWhole(certFile, certificate, 0o644);
  } catch (error) {
    throw new PemFileError(`cannot keep the certificate that was made: ${messageOf(error)}`, { cause: error });
  }
}

/** Never half a file for whoever reads meanwhile. */
async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  await writeFile(`${file}.new`, text, { mode });
  await rename(`${file}.new`, file);
}
