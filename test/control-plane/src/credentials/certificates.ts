import path from "node:path";
import { ControlPlaneError } from "../errors.ts";
import { objectAt, parseJson, requireString } from "../json.ts";
import { run } from "../run.ts";

/** A certificate and its private key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Asks for a client certificate; with hosts it is a serving certificate as well. */
export interface Subject {
  /** The user name that kube-apiserver sees. */
  readonly commonName: string;
  /** The groups that kube-apiserver sees. */
  readonly organizations?: readonly string[];
  readonly hosts?: readonly string[];
  /** Default: longer than any test runs. */
  readonly lifetimeSeconds?: number | undefined;
}

export interface Certificates {
  readonly authority: KeyPair;
  readonly certificateOf: (name: string) => KeyPair;
}

const timeoutMs = 30_000;

/** Signs the subjects by `authority`, or by a new one. */
export async function makeCertificates(
  binDir: string,
  subjects: Readonly<Record<string, Subject>>,
  authority?: KeyPair,
): Promise<Certificates> {
  const input = JSON.stringify({ authority, subjects });
  const answer = await run(path.join(binDir, "certs"), [], { input, timeoutMs });
  if (answer.exitCode !== 0) {
    const reason = answer.stderr.trim() || String(answer.error);
    throw new ControlPlaneError(
      "COMMAND_FAILED",
      `make certificates for ${Object.keys(subjects).join(", ")}: ${reason}`,
    );
  }
  const made = parseJson(answer.stdout, "the answer of certs");
  return {
    authority: toKeyPair(objectAt(made, "authority")),
    certificateOf: (name) => toKeyPair(objectAt(objectAt(made, "certificates"), name)),
  };
}

function toKeyPair(value: unknown): KeyPair {
  const source = "the answer of certs";
  return { certificate: requireString(value, "certificate", source), key: requireString(value, "key", source) };
}
