import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import { type Entry, withDirectories } from "./entry.ts";

export interface Layer {
  /** As it is stored. */
  readonly blob: Buffer;
  /** Of the archive before it was compressed. */
  readonly diffId: string;
  readonly summary: string;
}

/** The same bytes for the same entries, in whatever order they come. */
export async function makeLayer(entries: readonly Entry[], modified: Date, summary: string): Promise<Layer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const entry of withDirectories(entries)) {
    const header = { name: entry.path, mtime: modified, uid: 0, gid: 0, uname: "", gname: "" };
    switch (entry.kind) {
      case "file":
        archive.entry({ ...header, ...entry.owner, mode: entry.mode, type: "file" }, entry.content);
        break;
      case "directory":
        archive.entry({ ...header, ...entry.owner, name: `${entry.path}/`, mode: entry.mode, type: "directory" });
        break;
      case "link":
        archive.entry({ ...header, mode: 0o777, type: "symlink", linkname: entry.target });
        break;
      default:
        entry satisfies never;
    }
  }
  archive.finalize();
  const tar = await bytes;
  return { blob: await promisify(gzip)(tar), diffId: digestOf(tar), summary };
}

export function digestOf(content: Buffer | string): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
