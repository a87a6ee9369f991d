import { outputOf } from "./images.ts";

/** A line of `tar --list --verbose`, of a layer. */
export interface Listed {
  readonly mode: string;
  readonly owner: string;
  readonly path: string;
}

/** What the file with a layer holds. */
export async function listLayer(file: string): Promise<readonly Listed[]> {
  const text = await outputOf("tar", ["--list", "--verbose", "--gzip", "--numeric-owner", "--file", file]);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [mode = "", owner = "", , , , ...words] = line.split(/\s+/);
      const [path = ""] = words.join(" ").split(" -> ");
      return { mode, owner, path };
    });
}
