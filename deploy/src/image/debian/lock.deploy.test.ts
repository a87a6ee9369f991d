import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cached, type LockedPackage, openLocked } from "./lock.ts";
import { snapshotSources } from "./snapshot.ts";
import { outputOf } from "../tools.ts";

/** No release has it: to this machine's sources it is like one that Debian has replaced. */
const NAME = "cloudwire-test-of-lock";
const LOCKED_AT = { suite: "bookworm", time: "2026-11-01T00:00:00Z" };
const DEPTHS = ["debian/20261102T000000Z", "debian-security/20261102T000000Z"];
const TIMEOUT_MS = 120_000;

let directory: string;
let locked: LockedPackage;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lock-"));
  const file = await buildPackage("1.0");
  await publish(file);
  locked = { name: NAME, version: "1.0", sha256: sha256(await readFile(file)) };
});
afterEach(async () => {
  await rm(cached(locked.sha256), { force: true });
  await rm(directory, { recursive: true, force: true });
});

const past = (): string => snapshotSources(`file:${directory}`, LOCKED_AT);

async function buildPackage(version: string): Promise<string> {
  const root = join(directory, `root-${version}`);
  const control = { Package: NAME, Version: version, Architecture: "all", Maintainer: "none", Description: "test" };
  await mkdir(join(root, "DEBIAN"), { recursive: true });
  await writeFile(join(root, "DEBIAN/control"), fields(control));
  await writeFile(join(root, "hello"), `${version}\n`);
  const file = join(directory, DEPTHS[0] ?? "", `pool/${NAME}_${version}_all.deb`);
  await mkdir(dirname(file), { recursive: true });
  await outputOf("dpkg-deb", ["--build", "--root-owner-group", root, file]);
  return file;
}

/** An archive of the past, which has this package and no other. */
async function publish(file: string): Promise<void> {
  const described = await outputOf("dpkg-deb", ["--field", file]);
  const place = {
    Filename: `pool/${NAME}_1.0_all.deb`,
    Size: (await stat(file)).size,
    SHA256: sha256(await readFile(file)),
  };
  const [main = "", security = ""] = DEPTHS;
  await index(join(directory, main, "dists/bookworm"), `${described}${fields(place)}\n`);
  await index(join(directory, main, "dists/bookworm-updates"), "");
  await index(join(directory, security, "dists/bookworm-security"), "");
}

async function index(release: string, packages: string): Promise<void> {
  const path = "main/binary-amd64/Packages";
  await mkdir(dirname(join(release, path)), { recursive: true });
  await writeFile(join(release, path), packages);
  const sums = `SHA256:\n ${sha256(packages)} ${Buffer.byteLength(packages)} ${path}\n`;
  await writeFile(join(release, "Release"), `Codename: bookworm\nArchitectures: amd64\nComponents: main\n${sums}`);
}

const fields = (of: object): string =>
  Object.entries(of)
    .map(([name, value]) => `${name}: ${String(value)}\n`)
    .join("");

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

describe("a locked package that Debian has replaced", () => {
  test(
    "comes from the archive of the past",
    async () => {
      const [opened] = await openLocked("amd64", [locked], past());
      expect(opened).toMatchObject({ name: NAME, version: "1.0", entries: [{ path: "hello" }] });
    },
    TIMEOUT_MS,
  );

  test(
    "is an error that names the command for the newest versions, where the snapshot archive lacks it",
    async () => {
      const gone = { ...locked, version: "0.9" };
      await expect(openLocked("amd64", [gone], past())).rejects.toThrow(
        /^not all locked packages for amd64 can be had: [^]*\n {2}npm run images -- --update-lock {4}takes the newest[^]*'0\.9' for 'cloudwire-test-of-lock' was not found/,
      );
    },
    TIMEOUT_MS,
  );

  test(
    "is not taken with other content than was locked",
    async () => {
      await expect(openLocked("amd64", [{ ...locked, sha256: sha256("another") }], past())).rejects.toThrow(
        `Debian's archive has other files than the locked ones for ${NAME}: build nothing of them before you know why`,
      );
    },
    TIMEOUT_MS,
  );
});
