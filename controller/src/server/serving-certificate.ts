import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "../telemetry/log.ts";
import { aborted, sleep } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { readPemPair } from "../util/pem-pair.ts";
import { type Files, readPairIfThere, writePair } from "./certificate-files.ts";
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

/** Files are read again so often. Content is compared: mounted Secrets change by symbolic link. */
const RELOAD_MS = 10_000;

/** Key and certificate of a server: given as files and read again when they change, or signed by itself. */
export class ServingCertificate {
  readonly #deps: CertificateDependencies;
  /** undefined: in memory alone. */
  readonly #files: Files | undefined;
  readonly #listeners = new Set<() => void>();
  #pair: KeyPair;
  /** Of the last reload that failed, so that it is said once. */
  #problem: string | undefined;
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
      return loaded(new ServingCertificate(deps, await readPemPair(certFile, keyFile), files, false));
    }
    if (certDir === "") return new ServingCertificate(deps, makePair(deps), undefined, true);
    const files = { certFile: join(certDir, `${pairName}.crt`), keyFile: join(certDir, `${pairName}.key`) };
    const kept = await readPairIfThere(files);
    if (kept !== undefined && !isOldOfOurs(kept, deps)) {
      return loaded(new ServingCertificate(deps, kept, files, false));
    }
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

  /** Follows the files until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const files = this.#files;
    if (files === undefined) return aborted(signal);
    while (!signal.aborted) {
      await sleep(RELOAD_MS, signal, this.#deps.clock).catch(() => undefined);
      if (!signal.aborted) await this.#reload(files);
    }
  }

  /** Files that are being written, or are wrong, change nothing: what is in force stays so. */
  async #reload(files: Files): Promise<void> {
    const { log } = this.#deps;
    try {
      const pair = await readPemPair(files.certFile, files.keyFile);
      this.#problem = undefined;
      if (pair.certificate === this.#pair.certificate && pair.key === this.#pair.key) return;
      this.#pair = pair;
      log.info("Serving with a new certificate", { file: files.certFile, expires: dateOf(expiryOf(pair)) });
      for (const listener of this.#listeners) listener();
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem)
        log.warn("The changed certificate is not taken; the one before stays", { problem });
      this.#problem = problem;
    }
  }

  /** Says so when there is little time left. */
  warnIfShort(): this {
    const leftMs = this.expiresAtMs - this.#deps.clock.nowMs();
    if (leftMs < SHORT_MS) {
      this.#deps.log.warn("The serving certificate expires soon, or has expired; put a new one in its place", {
        file: this.file,
        expires: dateOf(this.expiresAtMs),
      });
    }
    return this;
  }
}

function loaded(certificate: ServingCertificate): ServingCertificate {
  return certificate.warnIfShort();
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
