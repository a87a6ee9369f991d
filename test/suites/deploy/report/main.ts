// `npm run image-report -w @cloudwire/test`: builds the images, weighs and starts them, and writes what comes out to docs/reference/images.md.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { bundledProgram, makeBundles } from "../../../support/bundles.ts";
import { at, listOf } from "../../../support/kube.ts";
import { buildImages, outputOf, type PlatformImage, readBlob, readImages, VERSION } from "../support/images.ts";
import { Podman } from "../support/podman.ts";
import { HARDENED } from "../support/hardened.ts";
import { type ImageSize, type LayerSize, type StartTimes, withMeasurements } from "./measurements.ts";

const PAGE = new URL("../../../../docs/reference/images.md", import.meta.url);
const CONTROLLER = "cloudwire-controller-manager";
const TIMES = 9;

async function main(): Promise<void> {
  const [load = 0] = loadavg();
  const directory = await mkdtemp(join(tmpdir(), "image-report-"));
  try {
    await using podman = await Podman.create();
    const layout = join(directory, "images");
    await buildImages(layout);
    await makeBundles(join(directory, "bundles"));
    const image = await podman.load(layout, `${CONTROLLER}:${VERSION}`);
    const measurements = {
      version: VERSION,
      day: new Date().toISOString().slice(0, "2026-11-23".length),
      sizes: await weigh(layout, await readImages(layout)),
      starts: await start(podman, image, bundledProgram(join(directory, "bundles"), CONTROLLER)),
      engine: await engineOf(podman),
      processors: availableParallelism(),
      load,
    };
    await writeFile(PAGE, withMeasurements(await readFile(PAGE, "utf8"), measurements));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function weigh(layout: string, images: readonly PlatformImage[]): Promise<readonly ImageSize[]> {
  const known = new Map<string, LayerSize>();
  const layerOf = async (digest: string): Promise<LayerSize> => {
    const blob = await readBlob(layout, digest);
    const size = { digest, compressedBytes: blob.length, unpackedBytes: gunzipSync(blob).length };
    known.set(digest, size);
    return size;
  };
  const sizes: ImageSize[] = [];
  for (const { reference, platform, manifest } of images) {
    const layers: LayerSize[] = [];
    for (const { digest } of listOf(at(manifest, "layers")))
      layers.push(known.get(String(digest)) ?? (await layerOf(String(digest))));
    const [name = ""] = reference.split(":");
    sizes.push({ name, architecture: platform.replace("linux/", ""), layers });
  }
  return sizes;
}

/** One of each after the other, so that a busy moment of the machine is shared. */
async function start(podman: Podman, image: string, program: string): Promise<StartTimes> {
  const [containerMs, programMs, processorMs]: [number[], number[], number[]] = [[], [], []];
  for (let time = 0; time < TIMES; time += 1) {
    const startMs = performance.now();
    await podman.run("run", "--rm", ...HARDENED, image, "--version");
    containerMs.push(performance.now() - startMs);
    const { real, processor } = await timesOf([process.execPath, program, "--version"]);
    programMs.push(real);
    processorMs.push(processor);
  }
  return { containerMs, programMs, processorMs };
}

/** As bash counts them, of the command and of all that it starts. */
async function timesOf(command: readonly string[]): Promise<{ readonly real: number; readonly processor: number }> {
  const timed = `TIMEFORMAT="%3R %3U %3S"; time "$@" > /dev/null`;
  const { stderr } = await promisify(execFile)("bash", ["-c", timed, "bash", ...command], {
    env: { ...process.env, LC_ALL: "C" },
  });
  const [real = 0, user = 0, system = 0] = stderr
    .trim()
    .split(" ")
    .map((text) => Number(text) * 1000);
  return { real, processor: user + system };
}

async function engineOf(podman: Podman): Promise<string> {
  const ofPodman = (await podman.run("version", "--format={{.Client.Version}}")).trim();
  const [ofRunc = ""] = (await outputOf("runc", ["--version"])).split("\n");
  return `podman ${ofPodman} and ${ofRunc.replace(" version", "")}`;
}

await main();
