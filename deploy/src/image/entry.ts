import { posix } from "node:path";

/** The owner of a file. Default: root. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** One thing in an image's root filesystem, by its path from there, without a slash at either end. */
export type Entry =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly content: Buffer;
      readonly mode: number;
      readonly owner?: Owner;
    }
  | { readonly kind: "directory"; readonly path: string; readonly mode: number; readonly owner?: Owner }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

export function textFile(path: string, text: string): Entry {
  return { kind: "file", path, content: Buffer.from(text), mode: 0o644 };
}

/** Sorted by path, each after the directories that it is in. */
export function withDirectories(entries: readonly Entry[]): readonly Entry[] {
  const all = new Map<string, Entry>();
  for (const { path } of entries)
    for (let directory = posix.dirname(path); directory !== "."; directory = posix.dirname(directory))
      all.set(directory, { kind: "directory", path: directory, mode: 0o755 });
  for (const entry of entries) all.set(entry.path, entry);
  return [...all.values()].toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

/** Directories at the top that are links into usr, as Debian has them since its release 12. */
const MERGED = /^(?:bin|sbin|lib|lib64)(?=\/|$)/;

/** The path under which a file is stored: packages name some by what is a link to a directory. */
export function storedPath(path: string): string {
  return posix
    .normalize(path)
    .replace(/^\/+|\/+$/g, "")
    .replace(MERGED, "usr/$&");
}

/** Where a link leads, as a stored path. */
export function linkedPath({ path, target }: { readonly path: string; readonly target: string }): string {
  return storedPath(posix.resolve("/", posix.dirname(path), target));
}
