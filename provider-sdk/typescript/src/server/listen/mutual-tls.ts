import { ServerCredentials } from "@grpc/grpc-js";
import type { Logger } from "../../telemetry/log.ts";
import { isSameMaterial, readTlsFiles, type TlsFiles, type TlsMaterial } from "./tls-files.ts";

/**
 * TLS with client certificates, from files that may change while it serves. New connections use the current files; established
 * connections continue. The library's own file watcher rejects all connections while a file is missing, and serves a key that does not
 * match the certificate.
 */
export class MutualTls extends ServerCredentials {
  readonly #files: TlsFiles;
  #material: TlsMaterial;
  /** Of the last files that were not taken, so that it is said once. */
  #problem = "";

  constructor(files: TlsFiles, material: TlsMaterial) {
    super({ requestCert: true, rejectUnauthorized: true }, contextOf(material));
    this.#files = files;
    this.#material = material;
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }

  /** Takes what the files hold now; files that are being written, are wrong or have expired change nothing. */
  async reload(log: Logger, nowMs: number): Promise<void> {
    const read = await readTlsFiles(this.#files);
    const problem = read.kind === "problems" ? read.problems.join("; ") : this.#expiry(read.material, nowMs);
    if (read.kind === "problems" || problem !== "") {
      if (problem !== this.#problem) log.warn("The changed TLS files are not taken; the ones before stay", { problem });
      this.#problem = problem;
      return;
    }
    this.#problem = "";
    const { material } = read;
    if (isSameMaterial(material, this.#material)) return;
    this.#material = material;
    this.updateSecureContextOptions(contextOf(material));
    log.info("Serving with changed TLS files", {
      file: this.#files.certFile,
      expires: material.expiresAt.toISOString(),
    });
  }

  /** Says so when callers will refuse the certificate. */
  warnIfExpired(log: Logger, nowMs: number): void {
    const problem = this.#expiry(this.#material, nowMs);
    if (problem !== "") log.warn("Callers will refuse the certificate; put a new one in its place", { problem });
  }

  #expiry({ expiresAt }: TlsMaterial, nowMs: number): string {
    if (expiresAt.getTime() > nowMs) return "";
    return `the certificate in ${this.#files.certFile} expired at ${expiresAt.toISOString()}`;
  }
}

const contextOf = ({ cert, key, clientCa }: TlsMaterial) => ({ cert: [cert], key: [key], ca: clientCa });
