import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { outputOf } from "../tools.ts";

const SOURCES = "sources.list";

/** A package of one version. */
export interface Wanted {
  readonly name: string;
  readonly version: string;
}

/**
 * Debian's archive as this machine's sources, or others, name it, seen from a machine of the architecture on which nothing is installed.
 * apt checks the signatures of this machine's sources; nothing of this machine changes.
 */
export class Archive implements AsyncDisposable {
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#env = { ...process.env, APT_CONFIG: join(directory, "apt.conf"), LC_ALL: "C" };
  }

  /** @param sources in the format of sources.list; those of this machine without them */
  static async open(architecture: string, sources?: string): Promise<Archive> {
    const directory = await mkdtemp(join(tmpdir(), "cloudwire-apt-"));
    const archive = new Archive(directory);
    for (const needed of ["state/lists/partial", "cache/archives/partial"])
      await mkdir(join(directory, needed), { recursive: true });
    await writeFile(join(directory, "status"), "");
    await writeFile(join(directory, "apt.conf"), settings(directory, architecture, sources !== undefined));
    if (sources !== undefined) await writeFile(join(directory, SOURCES), sources);
    await outputOf("apt-get", ["update", "-qq"], { env: archive.#env });
    return archive;
  }

  /** The packages with all that they depend on, in the newest versions. */
  async resolve(names: readonly string[]): Promise<readonly Wanted[]> {
    const text = await outputOf("apt-get", ["install", "--simulate", "-qq", ...names], { env: this.#env });
    return [...text.matchAll(/^Inst (?<name>\S+) \((?<version>\S+)/gm)].map(({ groups = {} }) => ({
      name: groups["name"] ?? "",
      version: groups["version"] ?? "",
    }));
  }

  /** Files of the packages, in the directory, under names of apt's. */
  async download(wanted: readonly Wanted[], directory: string): Promise<readonly string[]> {
    const names = wanted.map(({ name, version }) => `${name}=${version}`);
    await outputOf("apt-get", ["download", "-qq", ...names], { env: this.#env, cwd: directory });
    return (await readdir(directory)).filter((name) => name.endsWith(".deb")).map((name) => join(directory, name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function settings(directory: string, architecture: string, hasSources: boolean): string {
  return [
    `APT::Architecture "${architecture}";`,
    `APT::Architectures { "${architecture}"; };`,
    `APT::Install-Recommends "false";`,
    // For when it is run by root: its own user cannot write to our directories.
    `APT::Sandbox::User "root";`,
    `Acquire::Languages "none";`,
    `Dir::State "${directory}/state";`,
    `Dir::State::status "${directory}/status";`,
    `Dir::Cache "${directory}/cache";`,
    ...(hasSources ? [`Dir::Etc::sourcelist "${directory}/${SOURCES}";`, `Dir::Etc::sourceparts "-";`] : []),
    "",
  ].join("\n");
}
