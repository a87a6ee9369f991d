import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import type { Part } from "./parts.ts";
import { redact, secretsIn } from "./redact.ts";

/** The contents of a bundle. */
export interface Manifest {
  readonly format: "cloudwire.support-bundle";
  readonly version: 1;
  /** This program. */
  readonly program: string;
  /** Creation time. */
  readonly time: string;
  /** Address of the controller. */
  readonly controller: string;
  readonly files: readonly BundledFile[];
  readonly unavailable: readonly { readonly name: string; readonly message: string }[];
}

export interface BundledFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Number of redacted secrets by kind. */
  readonly redacted: Readonly<Record<string, number>>;
}

export interface BundleHead {
  readonly program: string;
  readonly time: string;
  readonly controller: string;
}

export interface Bundle {
  readonly manifest: Manifest;
  /** A tar archive, compressed. */
  readonly bytes: Buffer;
}

const DIRECTORY = "cloudwire-support-bundle";
const MODE = 0o644;
/** Makes archives reproducible; the manifest has the time. */
const MTIME = new Date(0);

/** Packs the redacted parts, sorted by name. Omits files that may still contain a secret. */
export async function makeBundle(parts: readonly Part[], head: BundleHead): Promise<Bundle> {
  const files: (BundledFile & { readonly text: string })[] = [];
  const unavailable: { readonly name: string; readonly message: string }[] = [];
  for (const part of parts.toSorted(byName)) {
    if (part.kind === "unavailable") unavailable.push({ name: part.name, message: redact(part.message).text });
    else {
      const { text, found } = redact(part.text);
      const left = secretsIn(text);
      if (left.length > 0)
        unavailable.push({
          name: part.name,
          message: `omitted: it may still contain a secret (${left.join(", ")})`,
        });
      else files.push({ name: part.name, text, ...described(text), redacted: found });
    }
  }
  const manifest: Manifest = {
    format: "cloudwire.support-bundle",
    version: 1,
    ...head,
    files: files.map(({ name, bytes, sha256, redacted }) => ({ name, bytes, sha256, redacted })),
    unavailable,
  };
  const all = [{ name: "manifest.json", text: `${JSON.stringify(manifest, undefined, 2)}\n` }, ...files];
  return { manifest, bytes: await promisify(gzip)(await archive(all), { level: 9 }) };
}

async function archive(files: readonly { readonly name: string; readonly text: string }[]): Promise<Buffer> {
  const tar = pack();
  const whole = buffer(tar);
  for (const { name, text } of files) tar.entry({ name: `${DIRECTORY}/${name}`, mode: MODE, mtime: MTIME }, text);
  tar.finalize();
  return whole;
}

function described(text: string): Pick<BundledFile, "bytes" | "sha256"> {
  return { bytes: Buffer.byteLength(text), sha256: createHash("sha256").update(text).digest("hex") };
}

function byName(left: Part, right: Part): number {
  return left.name < right.name ? -1 : 1;
}
