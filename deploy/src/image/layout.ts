import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { digestOf } from "./layer.ts";

const BLOBS = "blobs/sha256";
const INDEX = "application/vnd.oci.image.index.v1+json";

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly architecture: string; readonly os: string; readonly variant?: string };
}

/** A directory with images by the OCI image format, as skopeo, podman and others read it. It appears when it is complete. */
export class Layout {
  readonly #directory: string;
  readonly #fresh: string;
  readonly #images: Descriptor[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
    this.#fresh = `${directory}.${process.pid}`;
  }

  static async create(directory: string): Promise<Layout> {
    const layout = new Layout(directory);
    await mkdir(join(layout.#fresh, BLOBS), { recursive: true });
    return layout;
  }

  async addBlob(mediaType: string, content: Buffer | string): Promise<Descriptor> {
    const digest = digestOf(content);
    await writeFile(join(this.#fresh, BLOBS, digest.slice("sha256:".length)), content);
    return { mediaType, digest, size: Buffer.byteLength(content) };
  }

  async addJson(mediaType: string, value: object): Promise<Descriptor> {
    return this.addBlob(mediaType, JSON.stringify(value));
  }

  /** An image for several platforms, to be found by the reference. Answers its digest. */
  async addImage(
    reference: string,
    manifests: readonly Descriptor[],
    annotations: Readonly<Record<string, string>>,
  ): Promise<string> {
    const index = await this.addJson(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests, annotations });
    this.#images.push({ ...index, annotations: { "org.opencontainers.image.ref.name": reference } });
    return index.digest;
  }

  /** In the place of what was in the directory before. */
  async complete(): Promise<void> {
    const index = { schemaVersion: 2, mediaType: INDEX, manifests: this.#images };
    await writeFile(join(this.#fresh, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await writeFile(join(this.#fresh, "index.json"), JSON.stringify(index));
    await rm(this.#directory, { recursive: true, force: true });
    await rename(this.#fresh, this.#directory);
  }

  /** For where it could not be completed. */
  async discard(): Promise<void> {
    await rm(this.#fresh, { recursive: true, force: true });
  }
}
