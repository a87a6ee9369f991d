import { createHash } from "node:crypto";
import { chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, listOf } from "../../support/kube.ts";
import { NON_ROOT } from "../system/support/containers.ts";
import { HARDENED } from "./support/hardened.ts";
import {
  ARCHITECTURE,
  blobPath,
  buildImages,
  outputOf,
  type PlatformImage,
  readBlob,
  readImages,
  VERSION,
} from "./support/images.ts";
import { type Listed, listLayer } from "./support/layer-files.ts";
import { Podman, statusOf } from "./support/podman.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const NAMES = [
  "cloudwire-controller-manager",
  "cloudwire-provider-aws",
  "cloudwire-provider-baremetal",
  "cloudwire-provider-openstack",
  "cloudwire-provider-simulated",
];
const BARE_METAL = `cloudwire-provider-baremetal:${VERSION}`;
const SIMULATED = `cloudwire-provider-simulated:${VERSION}`;
const OCI_CHECK = join(ROOT, "test/suites/deploy/oci-check/bin/oci-check");
const PLATFORMS = ["linux/amd64", "linux/arm64"];

/** By how much what is written may be wrong: it is written again for a release, not for each change. */
const TOLERANCE = 0.1;

let directory: string;
let layout: string;
let images: readonly PlatformImage[];
let podman: Podman;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "images-"));
  layout = join(directory, "first");
  await buildImages(layout);
  images = await readImages(layout);
  podman = await Podman.create();
  for (const name of NAMES) await podman.load(layout, `${name}:${VERSION}`);
}, 600_000);
afterAll(async () => {
  await podman[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** Layers are shared: each is looked at once. */
const listed = new Map<string, Promise<readonly Listed[]>>();
const diffIds = new Map<string, Promise<string>>();

/** What the image has, the last layer that names a path deciding. */
async function filesOf({ manifest }: PlatformImage): Promise<readonly Listed[]> {
  const layers = await Promise.all(
    listOf(at(manifest, "layers")).map(({ digest }) =>
      once(listed, String(digest), (of) => listLayer(blobPath(layout, of))),
    ),
  );
  return [...new Map(layers.flat().map((file) => [file.path, file])).values()];
}

/** Of the archive in the layer; fails where the layer itself is not what its name says. */
async function diffIdOf(digest: string): Promise<string> {
  const blob = await readBlob(layout, digest);
  if (sha256(blob) !== digest) throw new Error(`blob ${digest} has other content`);
  return sha256(gunzipSync(blob));
}

function once<T>(known: Map<string, Promise<T>>, key: string, make: (key: string) => Promise<T>): Promise<T> {
  const found = known.get(key) ?? make(key);
  known.set(key, found);
  return found;
}

const imageOf = (reference: string, architecture = ARCHITECTURE): PlatformImage => {
  const found = images.find((image) => image.reference === reference && image.platform === `linux/${architecture}`);
  if (found === undefined) throw new Error(`no ${reference} for ${architecture} was built`);
  return found;
};

describe("npm run images", () => {
  test("builds an image for each program and platform", () => {
    expect(images.map(({ reference, platform }) => `${reference} ${platform}`).toSorted()).toEqual(
      NAMES.flatMap((name) => PLATFORMS.map((platform) => `${name}:${VERSION} ${platform}`)),
    );
  });

  test("builds the same bytes again, for each platform", async () => {
    const second = join(directory, "second");
    await buildImages(second);
    const digests = (of: readonly PlatformImage[]) =>
      of.map(({ reference, platform, digest }) => `${reference} ${platform} ${digest}`);
    expect(digests(await readImages(second))).toEqual(digests(images));
    expect(await readFile(join(second, "index.json"), "utf8")).toBe(await readFile(join(layout, "index.json"), "utf8"));
    await rm(second, { recursive: true });
  }, 600_000);

  test("shares the layer with Node among all images of a platform", () => {
    for (const platform of PLATFORMS) {
      const of = images.filter((image) => image.platform === platform);
      expect(new Set(of.map(({ manifest }) => at(manifest, "layers", 0, "digest"))).size).toBe(1);
    }
  });
});

describe("the layout", () => {
  test("is what the image format's own schemas and validator ask for, to the last blob", async () => {
    expect(await outputOf(OCI_CHECK, [layout])).toMatch(/^[1-9]\d+ blobs, 0 faults\n$/);
  });

  test("is found out where it is not", async () => {
    const spoiled = join(directory, "spoiled");
    await mkdir(spoiled);
    await symlink(join(layout, "blobs"), join(spoiled, "blobs"));
    await copyFile(join(layout, "oci-layout"), join(spoiled, "oci-layout"));
    const index = (await readFile(join(layout, "index.json"), "utf8"))
      .replace(/"size":\d+/, '"size":1')
      .replace('"schemaVersion":2', '"schemaVersion":3');
    await writeFile(join(spoiled, "index.json"), index);
    const answer = await outputOf(OCI_CHECK, [spoiled]).catch((error: unknown) => String(at(error, "stdout")));
    expect(answer).toMatch(/^index\.json: validation failed: .*\n[^]*has \d+ bytes, and its descriptor says 1\n/);
    expect(answer).toMatch(/ blobs, 2 faults\n$/);
  });
});

test("docs/reference/images.md says how large they are: npm run image-report -w @cloudwire/test", async () => {
  const page = await readFile(join(ROOT, "docs/reference/images.md"), "utf8");
  const columns = /^\| image \| (.*) \| of that shared/m.exec(page)?.[1]?.split(" | ");
  expect(columns).toEqual(PLATFORMS.map((platform) => `compressed, ${platform.replace("linux/", "")}`));
  for (const { reference, platform, manifest } of images) {
    const [name = ""] = reference.split(":");
    const documented = new RegExp(`^\\| \`${name}\` \\| ([\\d.]+) MB \\| ([\\d.]+) MB \\|`, "m").exec(page);
    const bytes = listOf(at(manifest, "layers")).reduce((sum, { size }) => sum + Number(size), 0);
    const share = bytes / 1e6 / Number(documented?.[1 + PLATFORMS.indexOf(platform)]);
    expect([name, Math.abs(share - 1) < TOLERANCE]).toEqual([name, true]);
  }
});

describe("an image", () => {
  test("is copied whole by a tool that checks every digest and size, for all platforms", async () => {
    const copied = join(directory, "copied");
    for (const name of NAMES) {
      const reference = `${name}:${VERSION}`;
      await outputOf("skopeo", [
        "--insecure-policy",
        "copy",
        "--all",
        "--quiet",
        `oci:${layout}:${reference}`,
        `oci:${copied}:${reference}`,
      ]);
    }
    expect((await readImages(copied)).map(({ digest }) => digest)).toEqual(
      NAMES.flatMap((name) => images.filter(({ reference }) => reference.startsWith(name)).map(({ digest }) => digest)),
    );
  });

  test.each(NAMES)("%s: media types, sizes, layers and settings are as the format has them", async (name) => {
    for (const image of images.filter(({ reference }) => reference === `${name}:${VERSION}`)) {
      const { manifest, config } = image;
      expect(manifest["mediaType"]).toBe("application/vnd.oci.image.manifest.v1+json");
      expect(at(manifest, "config", "mediaType")).toBe("application/vnd.oci.image.config.v1+json");
      const layers = listOf(at(manifest, "layers"));
      for (const { mediaType, digest, size } of layers) {
        expect(mediaType).toBe("application/vnd.oci.image.layer.v1.tar+gzip");
        expect((await readBlob(layout, digest)).length).toBe(size);
      }
      const ids = layers.map(({ digest }) => once(diffIds, String(digest), diffIdOf));
      expect(at(config, "rootfs")).toEqual({ type: "layers", diff_ids: await Promise.all(ids) });
      expect(listOf(at(config, "history"))).toHaveLength(layers.length);
      expect(image.platform).toBe(`${String(config["os"])}/${String(config["architecture"])}`);
      expect(at(config, "config")).toMatchObject({
        User: name === "cloudwire-provider-baremetal" ? "0:0" : "65532:65532",
        Entrypoint: ["/usr/local/bin/node", `/opt/cloudwire/${name}.mjs`],
        StopSignal: "SIGTERM",
        Labels: {
          "org.opencontainers.image.version": VERSION,
          "org.opencontainers.image.licenses": "Apache-2.0",
          "org.opencontainers.image.created": "2023-11-14T22:13:20.000Z",
        },
      });
    }
  });

  test.each(NAMES)("%s: has no shell and no script, and no one but the superuser can change it", async (name) => {
    for (const image of images.filter(({ reference }) => reference === `${name}:${VERSION}`)) {
      const files = await filesOf(image);
      const named = (pattern: RegExp) => files.map(({ path }) => path).filter((path) => pattern.test(path));
      expect(named(/\/(?:ba|da|z|a)?sh$|busybox|\/(?:perl|python)|\/(?:apt|dpkg)$/)).toEqual([]);
      expect(named(/^usr\/(?:s?bin)\/./).length).toBe(name === "cloudwire-provider-baremetal" ? 8 : 0);
      // Set-user-id and set-group-id, and what others may write; links have no modes of their own.
      expect(files.filter(({ mode }) => /s/.test(mode.slice(1))).map(({ path }) => path)).toEqual([]);
      const writable = files.filter(({ mode }) => !mode.startsWith("l") && /^.{5}w|^.{8}w/.test(mode));
      expect(writable.map(({ path }) => path)).toEqual(["tmp/"]);
      expect(
        files
          .filter(({ owner }) => owner !== "0/0")
          .map(({ path }) => path)
          .toSorted(),
      ).toEqual(["home/cloudwire/", ...(name === "cloudwire-provider-baremetal" ? [] : ["run/cloud-provider/"])]);
    }
  });

  test.each(NAMES)("%s: lists all its parts, and has the license of each", async (name) => {
    const image = imageOf(`${name}:${VERSION}`);
    const paths = (await filesOf(image)).map(({ path }) => path);
    const top = listOf(at(image.manifest, "layers")).at(-1)?.["digest"];
    const read = async (path: string): Promise<string> =>
      outputOf("tar", ["--extract", "--to-stdout", "--gzip", "--file", blobPath(layout, top), path]);
    const sbom: unknown = JSON.parse(await read(`usr/share/sbom/${name}.spdx.json`));
    expect(at(sbom, "spdxVersion")).toBe("SPDX-2.3");
    const purls = listOf(at(sbom, "packages")).map((part) => String(at(part, "externalRefs", 0, "referenceLocator")));
    expect(new Set(purls).size).toBe(purls.length);
    expect(new Set(listOf(at(sbom, "packages")).map((part) => part["SPDXID"])).size).toBe(purls.length);

    const debian = purls.flatMap((purl) => /^pkg:deb\/debian\/([^@]+)@/.exec(purl)?.[1] ?? []).map(decodeURIComponent);
    expect(debian).toContain("libc6");
    expect(paths.filter((path) => path.startsWith("var/lib/dpkg/status.d/")).toSorted()).toEqual(
      ["", ...debian].map((one) => `var/lib/dpkg/status.d/${one}`).toSorted(),
    );
    const licensed = new Set(
      paths.flatMap((path) => /^usr\/share\/doc\/([^/]+)(?:\/copyright)?$/.exec(path)?.[1] ?? []),
    );
    expect(debian.filter((one) => !licensed.has(one))).toEqual([]);

    const notices = await read("opt/cloudwire/THIRD_PARTY_NOTICES.txt");
    const npm = purls.flatMap(
      (purl) => /^pkg:npm\/(.+)@([^@]+)$/.exec(purl)?.slice(1).join(" ").replace("%40", "@") ?? [],
    );
    expect(npm.map((one) => one.split(" ")[0])).toContain("@grpc/grpc-js");
    expect(npm.filter((one) => !notices.includes(`\n${one}, license `))).toEqual([]);
  });
});

describe("a container, hardened", () => {
  test.each(NAMES)("%s prints its options", async (name) => {
    const text = await podman.run("run", "--rm", ...HARDENED, `localhost/${name}:${VERSION}`, "--help");
    expect(text).toContain(name);
  });

  test("runs the program as an unprivileged user, without capabilities, and ends immediately on SIGTERM", async () => {
    const sockets = join(directory, "sockets");
    await mkdir(sockets);
    await chown(sockets, NON_ROOT, NON_ROOT);
    await using program = podman.start(
      ...HARDENED,
      "--name=hardened",
      `--volume=${sockets}:/run/cloud-provider`,
      "--env=CLOUD_PROVIDER_ENDPOINT=unix:///run/cloud-provider/simulated.sock",
      "--env=SIMCLOUD_URL=http://127.0.0.1:9",
      "--env=SIMCLOUD_API_KEY=none",
      `localhost/${SIMULATED}`,
    );
    await program.said(/ready/, 60_000);
    expect(await readdir(sockets)).toEqual(["simulated.sock"]);
    const pid = (await podman.run("inspect", "--format={{.State.Pid}}", "hardened")).trim();
    expect(await statusOf(pid)).toMatchObject({
      Uid: "65532\t65532\t65532\t65532",
      Gid: "65532\t65532\t65532\t65532",
      CapEff: "0000000000000000",
      CapBnd: "0000000000000000",
      NoNewPrivs: "1",
    });
    await podman.run("kill", "--signal=TERM", "hardened");
    expect(await program.exit(60_000)).toEqual({ code: 0, signal: null });
    expect(await readdir(sockets)).toEqual([]);
  });

  test.each([
    ["haproxy", "-v", /HAProxy version 2/],
    ["nft", "--version", /nftables v/],
    ["birdc", "-s/none", /Unable to connect to server control socket/],
    ["ip", "-V", /iproute2/],
    ["ss", "-V", /iproute2/],
    ["conntrack", "--version", /conntrack v/],
    ["arping", "-V", /iputils/],
    ["virsh", "--version", /^\d/],
  ])("bare metal: %s starts", async (program, flag, expected) => {
    const args = [
      "run",
      "--rm",
      "--network=none",
      "--read-only",
      `--entrypoint=${program}`,
      `localhost/${BARE_METAL}`,
      flag,
    ];
    // BIRD's client has no way to end well without BIRD.
    expect(await podman.run(...args).catch(String)).toMatch(expected);
  });

  test("bare metal: serves, and its programs change the kernel, with the capabilities that its README names and no other", async () => {
    const etc = join(directory, "etc");
    await mkdir(etc);
    await writeFile(join(etc, "baremetal.yaml"), BARE_METAL_CONFIG);
    await writeFile(join(etc, "machines.yaml"), "machines: []\n");
    await using program = podman.start(
      "--name=gateway",
      "--network=none",
      "--read-only",
      "--cap-drop=ALL",
      "--cap-add=NET_ADMIN,NET_RAW,NET_BIND_SERVICE",
      "--security-opt=no-new-privileges",
      `--volume=${etc}:/etc/cloudwire:ro`,
      "--volume=/run/cloud-provider",
      "--volume=/var/lib/cloudwire",
      `localhost/${BARE_METAL}`,
      "--config=/etc/cloudwire/baremetal.yaml",
      "--endpoint=unix:///run/cloud-provider/baremetal.sock",
    );
    await program.said(/provider ready/, 60_000);
    const exec = async (...args: readonly string[]): Promise<string> => podman.run("exec", "gateway", ...args);
    await exec("ip", "address", "add", "192.0.2.10/32", "dev", "lo");
    expect(await exec("ip", "address", "show", "dev", "lo")).toContain("192.0.2.10/32");
    await exec("ip", "link", "set", "lo", "up");
    await exec("ip", "route", "add", "blackhole", "198.51.100.0/24", "proto", "77");
    expect(await exec("ip", "route", "show", "proto", "77")).toContain("198.51.100.0/24");
    await exec("nft", "add", "table", "inet", "probe");
    expect(await exec("nft", "list", "tables")).toContain("table inet probe");
    expect(await exec("conntrack", "-C")).toMatch(/^\d/);
    await podman.run("kill", "--signal=TERM", "gateway");
    expect(await program.exit(60_000)).toEqual({ code: 0, signal: null });
  });
});

describe("deploy/images/Dockerfile", () => {
  test.each([
    ["cloudwire-controller-manager", "controller"],
    ["cloudwire-provider-simulated", "providers/simulated"],
  ])("builds %s on another image with Node", async (name, packageDirectory) => {
    const context = join(directory, `context-${name}`);
    const bundle = join(context, packageDirectory, "dist/bundle");
    await mkdir(bundle, { recursive: true });
    const top = listOf(at(imageOf(`${name}:${VERSION}`).manifest, "layers")).at(-1)?.["digest"];
    const archive = ["--gzip", "--file", blobPath(layout, top)];
    await outputOf("tar", ["--extract", ...archive, "--directory", bundle, "--strip-components=2", "opt/cloudwire"]);
    await podman.run(
      "build",
      "--quiet",
      `--file=${join(ROOT, "deploy/images/Dockerfile")}`,
      `--build-arg=BASE=localhost/cloudwire-provider-aws:${VERSION}`,
      `--build-arg=PROGRAM=${name}`,
      `--build-arg=BUNDLE=${packageDirectory}/dist/bundle`,
      `--tag=localhost/own-${name}`,
      context,
    );
    expect(await podman.run("run", "--rm", ...HARDENED, `localhost/own-${name}`, "--help")).toContain(name);
    const settings = await podman.run(
      "inspect",
      "--format={{.Config.User}} {{.Config.StopSignal}}",
      `localhost/own-${name}`,
    );
    expect(settings.trim()).toBe("65532:65532 SIGTERM");
  });
});

const BARE_METAL_CONFIG = `site: test
stateDir: /var/lib/cloudwire
inventory: { path: /etc/cloudwire/machines.yaml }
pools: [{ name: default, ranges: [192.0.2.10-192.0.2.20] }]
`;

function sha256(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
