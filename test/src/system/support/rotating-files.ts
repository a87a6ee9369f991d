import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files that change all at once, as kubelet changes those of a mounted Secret: by a link to their folder. */
export class RotatingFiles implements AsyncDisposable {
  readonly #folder: string;
  #rounds = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<RotatingFiles> {
    return new RotatingFiles(await mkdtemp(join(tmpdir(), "rotating-")));
  }

  path(name: string): string {
    return join(this.#folder, "..data", name);
  }

  /** Contents by name. */
  async put(files: Readonly<Record<string, string>>): Promise<void> {
    this.#rounds++;
    const fresh = join(this.#folder, `..${this.#rounds}`);
    await mkdir(fresh);
    for (const [name, content] of Object.entries(files)) await writeFile(join(fresh, name), content);
    await symlink(fresh, join(this.#folder, "..data_tmp"));
    await rename(join(this.#folder, "..data_tmp"), join(this.#folder, "..data"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
