import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../util/errors.ts";
import { PemFileError, readPemPair } from "../../util/pem-pair.ts";
import type { KeyPair } from "./self-signed.ts";

/** Where a pair is kept. */
export interface Files {
  readonly certFile: string;
  readonly keyFile: string;
}

/** undefined: one of the files is not there. */
export async function readPairIfThere({ certFile, keyFile }: Files): Promise<KeyPair | undefined> {
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
export async function writePair({ certFile, keyFile }: Files, { certificate, key }: KeyPair): Promise<void> {
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
