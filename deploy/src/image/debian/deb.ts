import { buffer } from "node:stream/consumers";
import { extract } from "tar-stream";
import { type Entry, storedPath } from "../entry.ts";
import { outputOf, streamOf } from "../tools.ts";

/** What a package of Debian's holds. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Its entry in the list of packages, as Debian's tools and scanners read it. */
  readonly control: string;
  readonly entries: readonly Entry[];
}

export async function readDebianPackage(file: string): Promise<DebianPackage> {
  const control = await outputOf("dpkg-deb", ["--field", file]);
  const entries = await streamOf("dpkg-deb", ["--fsys-tarfile", file], async (tar) => {
    const archive = extract();
    tar.pipe(archive);
    const read: Entry[] = [];
    for await (const { header, ...content } of entriesOf(archive)) {
      const path = storedPath(header.name);
      if (header.type === "file")
        read.push({ kind: "file", path, content: content.bytes, mode: (header.mode ?? 0o644) & 0o755 });
      if (header.type === "symlink") read.push({ kind: "link", path, target: header.linkname ?? "" });
      // A second name of a file that came before it.
      if (header.type === "link") read.push({ kind: "link", path, target: `/${storedPath(header.linkname ?? "")}` });
    }
    return read;
  });
  return { name: fieldOf(control, "Package"), version: fieldOf(control, "Version"), control, entries };
}

async function* entriesOf(archive: ReturnType<typeof extract>) {
  for await (const entry of archive) yield { header: entry.header, bytes: await buffer(entry) };
}

/** The field of a package's description. */
export function fieldOf(control: string, name: string): string {
  const found = new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1];
  if (found === undefined) throw new Error(`a package of Debian's has no field ${name}:\n${control}`);
  return found;
}
