/**
 * npm writes an optional package into package-lock.json only if the registry serves it, and `npm ci` rejects a lockfile
 * that lacks one. A registry that serves the packages of some platforms only therefore yields a lockfile that always
 * fails. The missing entries follow from their parents and are added here.
 */
export interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** Path in node_modules to the entry that is missing there. */
export function missingPlatformPackages(locked: LockedPackages): LockedPackages {
  const missing: Record<string, LockedPackage> = {};
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(locked)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (isResolved(locked, path, name)) continue;
      const platform = platformOf(name);
      if (platform === undefined || !/^\d/.test(version)) {
        throw new Error(`${path} wants ${name}@${version} where it can be had: add it to package-lock.json by hand`);
      }
      const entry = { ...platform, ...(dev === true ? { dev } : {}), optional: true };
      // npm's own order: the version, then by name.
      const fields = Object.entries(entry).toSorted(([a], [b]) => a.localeCompare(b, "en"));
      missing[`node_modules/${name}`] = { version, ...Object.fromEntries(fields) };
    }
  }
  return missing;
}

/** As Node looks it up: beside the package that wants it, then in each directory above. */
function isResolved(locked: LockedPackages, from: string, name: string): boolean {
  const above = from.lastIndexOf("/node_modules/");
  if (from === "") return locked[`node_modules/${name}`] !== undefined;
  if (locked[`${from}/node_modules/${name}`] !== undefined) return true;
  return isResolved(locked, above === -1 ? "" : from.slice(0, above), name);
}

const OS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const CPUS: Readonly<Record<string, string>> = {
  arm64: "arm64",
  x64: "x64",
  ia32: "ia32",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  arm: "arm",
  armv7: "arm",
};

/** Platform packages are named for what they run on: …-linux-arm64-musl. */
function platformOf(name: string): Pick<LockedPackage, "os" | "cpu" | "libc"> | undefined {
  const words = name.split(/[-/]/);
  const os = OS.find((word) => words.includes(word));
  const cpu = Object.entries(CPUS).find(([word]) => words.includes(word))?.[1];
  if (os === undefined || cpu === undefined) return undefined;
  const libc = words.some((word) => word.startsWith("musl")) ? "musl" : "glibc";
  return { cpu: [cpu], ...(os === "linux" ? { libc: [libc] } : {}), os: [os] };
}
