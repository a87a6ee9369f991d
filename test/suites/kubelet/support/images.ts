import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ARCHITECTURE, buildOwnImages, outputOf, readImages } from "../../deploy/support/images.ts";

/** In the place of a registry: what has been put on a machine by hand. */
export const LOCAL_REGISTRY = "localhost";

/** Builds images as they are shipped, for this machine; answers an archive of each. */
export async function imageArchives(directory: string, names: readonly string[]): Promise<readonly string[]> {
  const layout = join(directory, "layout");
  await buildOwnImages(layout, ...names);
  const images = await readImages(layout);
  return Promise.all(
    images.map(async ({ reference }) => {
      const archive = join(directory, `${reference.replaceAll(/[^a-z0-9.-]/g, "-")}.tar`);
      const target = `docker-archive:${archive}:${LOCAL_REGISTRY}/${reference}`;
      await outputOf("skopeo", ["--insecure-policy", "copy", "--quiet", `oci:${layout}:${reference}`, target]);
      return archive;
    }),
  );
}

/** An image of one program that needs nothing else; answers its archive. */
export async function programArchive(directory: string, program: string, reference: string): Promise<string> {
  const root = join(directory, "root");
  await mkdir(root);
  await copyFile(program, join(root, "program"));
  const layer = join(directory, "layer.tar");
  await outputOf("tar", ["-C", root, "-cf", layer, "program"]);
  const diffId = createHash("sha256")
    .update(await readFile(layer))
    .digest("hex");
  const config = {
    architecture: ARCHITECTURE,
    os: "linux",
    config: { Entrypoint: ["/program"] },
    rootfs: { type: "layers", diff_ids: [`sha256:${diffId}`] },
  };
  await writeFile(join(directory, "config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: [reference], Layers: ["layer.tar"] }];
  await writeFile(join(directory, "manifest.json"), JSON.stringify(manifest));
  const archive = join(directory, "program.tar");
  await outputOf("tar", ["-C", directory, "-cf", archive, "manifest.json", "config.json", "layer.tar"]);
  return archive;
}
