/** When and where locked packages were the newest. */
export interface LockedAt {
  /** Debian's name of the release, such as `bookworm`. */
  readonly suite: string;
  /** By ISO 8601. */
  readonly time: string;
}

/** Debian's archive as it was at any time, for what it has replaced since. */
export const SNAPSHOTS = "https://snapshot.debian.org/archive";

/** Mirrors may be ahead of the archive's snapshots by hours; a package is seldom replaced twice within a day. */
const LATER_MS = 24 * 60 * 60_000;

/** apt's sources for the archive of the past. No signature is asked for: a lock has checksums, and keys of then may have expired. */
export function snapshotSources(snapshots: string, { suite, time }: LockedAt): string {
  const at = new Date(Date.parse(time) + LATER_MS).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const source = (archive: string, release: string): string =>
    `deb [trusted=yes check-valid-until=no] ${snapshots}/${archive}/${at} ${release} main\n`;
  return [
    source("debian", suite),
    source("debian", `${suite}-updates`),
    source("debian-security", `${suite}-security`),
  ].join("");
}
