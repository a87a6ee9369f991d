import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shareWithContainers } from "./containers.ts";

/** Files that change all at once, as kubelet changes those of a volume: each is a link through `..data`, which is put in the place of the one before. */
export class RotatingFiles implements AsyncDisposable {
  readonly #directory: string;
  #rounds = 0;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async create(): Promise<RotatingFiles> {
    const directory = await mkdtemp(join(tmpdir(), "rotating-"));
    await shareWithContainers(directory);
    return new RotatingFiles(directory);
  }

  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Contents by name: the same names every time. */
  async put(files: Readonly<Record<string, string>>): Promise<void> {
    this.#rounds++;
    const version = `..version-${this.#rounds}`;
    await mkdir(this.path(version));
    for (const [name, content] of Object.entries(files)) await writeFile(this.path(join(version, name)), content);
    await symlink(version, this.path("..data_tmp"));
    await rename(this.path("..data_tmp"), this.path("..data"));
    if (this.#rounds > 1) return;
    for (const name of Object.keys(files)) await symlink(join("..data", name), this.path(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}
